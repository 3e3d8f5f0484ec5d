! C := A B for 1000 x 1000 matrices on any number of processes: mpifort first.f90 -lhsumma && mpiexec -n 4 ./a.out
program first
    use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
    use mpi_f08
    use hsumma
    implicit none
    integer, parameter :: n = 1000
    type(hsumma_context) :: ctx
    type(hsumma_grid) :: grid
    type(hsumma_desc) :: desc
    integer :: status, processes, rank, nprow, npcol, i, j
    integer(int64) :: row, col
    real(real64), allocatable :: a(:,:), b(:,:), c(:,:)
    character(256) :: message

    call MPI_Init()
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call hsumma_create(MPI_COMM_WORLD, '', ctx, status, message)
    if (status /= HSUMMA_OK) then
        write (error_unit, *) 'rank', rank, ': ', trim(message)
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    call hsumma_grid_shape(processes, nprow, npcol)
    call hsumma_grid_create(ctx, nprow, npcol, 'R', grid, status)
    if (status /= HSUMMA_OK) call MPI_Abort(MPI_COMM_WORLD, 1)
    call hsumma_desc_init(desc, grid, n, n, 64, 64) ! blocks of 64 x 64, dealt out cyclically, as in ScaLAPACK

    allocate (a(hsumma_local_rows(desc), hsumma_local_cols(desc)))
    allocate (b, c, mold=a)
    do j = 1, size(a, 2)
        do i = 1, size(a, 1) ! A(row, col) = row + col, B = the identity
            row = hsumma_global_row(desc, i)
            col = hsumma_global_col(desc, j)
            a(i, j) = real(row + col, real64)
            b(i, j) = merge(1, 0, row == col)
        end do
    end do
    call hsumma_gemm(ctx, 'N', 'N', n, n, n, 1.0_real64, a, desc, b, desc, 0.0_real64, c, desc, status)
    if (status /= HSUMMA_OK) then
        write (error_unit, *) 'rank', rank, ': ', hsumma_message(ctx)
    else if (rank == 0) then
        print '(a, f0.1, a, f0.1)', 'C(1, 1) = ', c(1, 1), ', C(2, 1) = ', c(2, 1)
    end if
    call hsumma_grid_free(grid)
    call hsumma_free(ctx)
    call MPI_Finalize()
end program
