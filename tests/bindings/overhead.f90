! The overhead of the module over C calls, in nanoseconds: n x n products on one process, through the module with arrays
! of rank 2 and through C, in turns; medians of each. Not a test: it needs an idle machine.
!     mpifort -O2 overhead.f90 -lhsumma && mpiexec -n 1 ./a.out
program overhead
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use hsumma
    implicit none
    interface
        function by_c(ctx, transa, transb, m, n, k, alpha, a, desca, b, descb, beta, c, descc) &
            bind(C, name='hsumma_dgemm') result(status)
            import
            type(c_ptr), value :: ctx, a, b, c
            integer(c_signed_char), value :: transa, transb
            integer(c_int64_t), value :: m, n, k
            real(c_double), value :: alpha, beta
            type(hsumma_desc), intent(in) :: desca, descb, descc
            integer(c_int) :: status
        end function
        function execute_by_c(plan, alpha, a, b, beta, c) bind(C, name='hsumma_plan_execute') result(status)
            import
            type(c_ptr), value :: plan, alpha, a, b, beta, c
            integer(c_int) :: status
        end function
    end interface
    integer, parameter :: rounds = 1001, calls = 100
    integer, parameter :: sizes(3) = [1, 8, 32]
    type(hsumma_context) :: ctx
    type(hsumma_grid) :: grid
    type(hsumma_desc) :: d
    real(c_double), allocatable, target :: a(:,:), b(:,:), c(:,:)
    type(hsumma_plan) :: plan
    real(c_double), target :: one = 1, zero = 0
    real(c_double) :: taken(rounds, 4), began
    integer :: status, s, n, i, j
    integer(c_int64_t) :: wide
    integer(c_signed_char) :: letter
    call MPI_Init()
    call hsumma_create(MPI_COMM_WORLD, 'threads=1', ctx, status)
    call hsumma_grid_create(ctx, 1, 1, 'R', grid, status)
    letter = int(ichar('N'), c_signed_char)
    do s = 1, size(sizes)
        n = sizes(s)
        wide = n
        call hsumma_desc_init(d, grid, n, n, 64, 64)
        if (allocated(a)) deallocate (a, b, c)
        allocate (a(n, n), b(n, n), c(n, n), source=1d0)
        call hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', n, n, n, d, d, d, '', plan, status)
        do i = 1, rounds
            began = MPI_Wtime()
            do j = 1, calls
                call hsumma_gemm(ctx, 'N', 'N', n, n, n, 1d0, a, d, b, d, 0d0, c, d, status)
            end do
            taken(i, 1) = MPI_Wtime() - began
            began = MPI_Wtime()
            do j = 1, calls
                status = by_c(ctx%handle, letter, letter, wide, wide, wide, 1d0, c_loc(a), d, c_loc(b), d, 0d0, c_loc(c), d)
            end do
            taken(i, 2) = MPI_Wtime() - began
            began = MPI_Wtime()
            do j = 1, calls
                call hsumma_plan_execute(plan, one, a, b, zero, c, status)
            end do
            taken(i, 3) = MPI_Wtime() - began
            began = MPI_Wtime()
            do j = 1, calls
                status = execute_by_c(plan%handle, c_loc(one), c_loc(a), c_loc(b), c_loc(zero), c_loc(c))
            end do
            taken(i, 4) = MPI_Wtime() - began
        end do
        call hsumma_plan_free(plan)
        print '(a, i3, 4(a, f8.1))', 'n = ', n, ': hsumma_gemm', median(taken(:, 1)), ', in C', median(taken(:, 2)), &
            '; hsumma_plan_execute', median(taken(:, 3)), ', in C', median(taken(:, 4))
    end do
    call MPI_Finalize()

contains

    function median(x) result(middle)
        real(c_double), intent(in) :: x(:)
        real(c_double) :: middle
        integer :: k
        middle = 0
        do k = 1, size(x)
            if (count(x < x(k)) <= size(x) / 2 .and. count(x <= x(k)) > size(x) / 2) middle = x(k) * 1d9 / calls
        end do
    end function
end program
