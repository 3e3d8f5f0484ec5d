! TAP from rank 0: calls that bits.f90 leaves out, through module mpi.
program calls
    use, intrinsic :: iso_c_binding
    use mpi
    use hsumma
    implicit none
    integer :: ranks, rank, error, status, count = 0
    integer, parameter :: m = 23, n = 19, k = 17, block = 4
    type(hsumma_context) :: ctx, null
    type(hsumma_grid) :: grid
    type(hsumma_desc) :: a, b, c
    character(60) :: message

    call MPI_Init(error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call hsumma_create(MPI_COMM_WORLD, 'nonsense=3   ', null, status, message)
    call expect(status == HSUMMA_ERR_OPTION .and. index(message, 'nonsense') > 0 .and. .not. c_associated(null%handle), &
                'create explains an unknown option, cut to the length of the message')
    call hsumma_create(MPI_COMM_WORLD, 'nonsense=3', null, status)
    call expect(status == HSUMMA_ERR_OPTION, 'without a message as well')
    call hsumma_create(MPI_COMM_WORLD, 'lookahead=1 check=always', ctx, status, message)
    call expect(status == HSUMMA_OK .and. message == '' .and. hsumma_message(ctx) == '', 'no message without an error')
    call expect(hsumma_status_string(HSUMMA_OK) /= '' .and. hsumma_string(c_null_ptr) == '', 'strings')
    call test_grids
    call test_descriptors
    call test_forms
    call test_refused
    call test_plans
    call test_collectives
    call test_memory
    call hsumma_grid_free(grid)
    call hsumma_grid_free(grid)
    call hsumma_free(ctx)
    call hsumma_free(ctx)
    call expect(.not. c_associated(ctx%handle), 'freed twice')
    if (rank == 0) print '(a, i0)', '1..', count
    call MPI_Finalize(error)

contains

    subroutine expect(good, name)
        logical, intent(in) :: good
        character(*), intent(in) :: name
        logical :: all
        call MPI_Allreduce(good, all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
        if (.not. good) print '(a, i0, 2a)', '# rank ', rank, ': ', hsumma_message(ctx)
        count = count + 1
        if (rank == 0) print '(2a, i0, 2a)', trim(merge('ok    ', 'not ok', all)), ' ', count, ' - ', name
        flush (6)
    end subroutine

    subroutine test_grids
        integer :: nprow, npcol, row, col, p, q, i
        integer :: order(ranks)
        real(c_double) :: seconds
        type(hsumma_grid) :: other, grids(3)
        type(hsumma_desc) :: best(3)
        call hsumma_grid_shape(ranks, nprow, npcol)
        order = [(ranks - i, i = 1, ranks)]
        call hsumma_grid_create(ctx, nprow, npcol, 'R', other, status, order)
        call hsumma_grid_info(other, p, q, row, col)
        call expect(status == HSUMMA_OK .and. p == nprow .and. q == npcol .and. row * npcol + col == ranks - 1 - rank &
                    .and. hsumma_grid_rank(other, 0, 0) == ranks - 1, 'a grid of ranks in another order')
        call hsumma_grid_free(other)
        call hsumma_grid_create(ctx, nprow, npcol, 'R', other, status, order(2:))
        call expect(status == HSUMMA_ERR_ARGUMENT .and. index(hsumma_message(ctx), 'ranks has') == 1, 'too few ranks')
        call hsumma_grid_create(ctx, ranks, 2, 'R', other, status)
        call expect(status == HSUMMA_ERR_ARGUMENT .and. .not. c_associated(other%handle), 'a grid that is too large')
        call hsumma_grid_create(ctx, nprow, npcol, 'R', grid, status)
        call expect(status == HSUMMA_OK, 'a grid of all')
        call hsumma_choose_grid(ctx, HSUMMA_D, 'N', 'T', 1000, 1000, 100, 64, ranks, '', p, q, seconds, status)
        call expect(status == HSUMMA_OK .and. p * q <= ranks .and. seconds > 0, 'hsumma_choose_grid')
        call hsumma_desc_best(ctx, HSUMMA_D, 'N', 'N', 100_c_int64_t, 200_c_int64_t, 300_c_int64_t, ' ', grids, &
                              best(1), best(2), best(3), status)
        call expect(status == HSUMMA_OK .and. best(2)%m == 300 .and. best(2)%n == 200 .and. &
                    c_associated(best(3)%grid, grids(3)%handle), 'hsumma_desc_best')
        do i = 1, 3
            call hsumma_grid_free(grids(i))
        end do
    end subroutine

    subroutine test_descriptors
        integer(c_int32_t) :: nine(9), back(9), ia, ja
        integer :: nprow, npcol, row, col, local, i
        logical :: right
        integer, allocatable :: mine(:)
        call hsumma_desc_init(a, grid, m, k, block, block)
        call hsumma_desc_init(b, grid, int(k, c_int64_t), int(n, c_int64_t), block, block)
        call hsumma_desc_init(c, grid, m, n, block, block, ld=m + 5)
        call hsumma_grid_info(grid, nprow, npcol, row, col)
        mine = pack([(i, i = 1, m)], [(mod((i - 1) / block, nprow) == row, i = 1, m)])
        right = hsumma_local_rows(a) == size(mine)
        do local = 1, size(mine)
            right = right .and. hsumma_global_row(a, local) == mine(local)
        end do
        call expect(right .and. c%ld == m + 5 .and. b%m == k .and. b%nb == block, 'local rows and their global numbers')
        nine = [1, 77, m, k, block, 3, 0, npcol - 1, m]
        call hsumma_desc_from_scalapack(a, grid, nine, status)
        call expect(status == HSUMMA_OK .and. a%n == k .and. a%mb == block .and. a%nb == 3 .and. a%imb == block .and. &
                    a%inb == 3 .and. a%csrc == npcol - 1 .and. a%ld == m .and. a%i == 0, 'from ScaLAPACK')
        mine = pack([(i, i = 1, k)], [(mod((i - 1) / 3 + npcol - 1, npcol) == col, i = 1, k)])
        right = hsumma_local_cols(a) == size(mine)
        do local = 1, size(mine)
            right = right .and. hsumma_global_col(a, int(local, c_int64_t)) == mine(local)
        end do
        call expect(right, 'local columns and their global numbers')
        call hsumma_desc_to_scalapack(a, 77, back, status)
        call expect(status == HSUMMA_OK .and. all(back == nine .or. [(i == 9, i = 1, 9)]) .and. back(9) == a%ld, 'and back')
        call hsumma_desc_to_scalapack(hsumma_at(a, 5, 6), 77, back, status, ia, ja)
        call expect(status == HSUMMA_OK .and. ia == 5 .and. ja == 6, 'with the first row and column')
        call hsumma_desc_to_scalapack(hsumma_at(a, 5, 6), 77, back, status, ia)
        call expect(status == HSUMMA_ERR_UNSUPPORTED, 'which must have somewhere to go')
        a%m = 2_c_int64_t**31
        call hsumma_desc_to_scalapack(a, 77, back, status)
        call expect(status == HSUMMA_ERR_UNSUPPORTED .and. all(back == 0), 'sizes of 2^31 do not fit')
        nine(1) = 2
        call hsumma_desc_from_scalapack(a, grid, nine, status)
        call expect(status == HSUMMA_ERR_ARGUMENT, 'another kind of descriptor')
        call hsumma_desc_from_scalapack(a, grid, nine(:8), status)
        call expect(status == HSUMMA_ERR_ARGUMENT, 'eight integers')
        call hsumma_desc_checkerboard(c, grid, m, n)
        call expect(c%mb == (m + nprow - 1) / nprow .and. c%nb == (n + npcol - 1) / npcol, 'one block per process')
        call hsumma_desc_init(a, grid, m, k, block, block)
        call hsumma_desc_init(c, grid, m, n, block, block)
    end subroutine

    ! Element (i, j) of both A and B.
    pure elemental function value(i, j) result(x)
        integer(c_int64_t), intent(in) :: i, j
        real(c_double) :: x
        x = real(mod(3 * i + 5 * j, 7_c_int64_t) - 3, c_double)
    end function

    subroutine fill(desc, x)
        type(hsumma_desc), intent(in) :: desc
        real(c_double), intent(out) :: x(:,:)
        integer :: i, j
        do j = 1, int(hsumma_local_cols(desc))
            do i = 1, int(hsumma_local_rows(desc))
                x(i, j) = value(hsumma_global_row(desc, i), hsumma_global_col(desc, j))
            end do
        end do
    end subroutine

    ! Whether this process's part of C is A B.
    function is_product(x) result(right)
        real(c_double), intent(in) :: x(:,:)
        logical :: right
        integer(c_int64_t) :: l, row, col
        integer :: i, j
        right = .true.
        do j = 1, int(hsumma_local_cols(c))
            do i = 1, int(hsumma_local_rows(c))
                row = hsumma_global_row(c, i)
                col = hsumma_global_col(c, j)
                right = right .and. x(i, j) == sum([(value(row, l) * value(l, col), l = 1_c_int64_t, int(k, c_int64_t))])
            end do
        end do
    end function

    ! Local arrays in all forms: explicit shape, address, one dimension, section, assumed size.
    subroutine test_forms
        real(c_double), target :: pa(m, k), pb(k, n), pc(m, n)
        real(c_double), allocatable :: flat_a(:), flat_b(:), flat_c(:), wide(:,:)
        integer :: rows, cols
        rows = int(hsumma_local_rows(c))
        cols = int(hsumma_local_cols(c))
        call fill(a, pa)
        call fill(b, pb)
        a%ld = m
        b%ld = k
        c%ld = m
        pc = 99
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, pa, a, pb, b, 0d0, pc, c, status)
        call expect(status == HSUMMA_OK .and. is_product(pc) .and. all(pc(rows + 1:, :) == 99) .and. &
                    all(pc(:, cols + 1:) == 99), 'explicit shape')
        pc = 99
        call hsumma_gemm(ctx, 'N', 'N', int(m, c_int64_t), int(n, c_int64_t), int(k, c_int64_t), 1d0, c_loc(pa), a, &
                         c_loc(pb), b, 0d0, c_loc(pc), c, status)
        call expect(status == HSUMMA_OK .and. is_product(pc), 'addresses')
        flat_a = reshape(pa, [m * k])
        flat_b = reshape(pb, [k * n])
        flat_c = reshape(pc, [m * n])
        flat_c = 98
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, flat_a, a, flat_b, b, 0d0, flat_c, c, status)
        call expect(status == HSUMMA_OK .and. is_product(reshape(flat_c, [m, n])), 'rank 1')
        allocate (wide(m + 7, n + 3))
        wide = 97
        c%ld = m + 7
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, pa, a, pb, b, 0d0, wide(4:3 + rows, 2:1 + cols), c, status)
        call expect(status == HSUMMA_OK .and. is_product(wide(4:, 2:)) .and. all(wide(:3, :) == 97) .and. &
                    all(wide(:, 1) == 97) .and. all(wide(4 + rows:, :) == 97), 'a section with the ld of its array')
        call assumed(pa, pb, wide, m + 7)
        call hsumma_desc_init(a, grid, m, k, block, block)
        call hsumma_desc_init(b, grid, k, n, block, block)
        call hsumma_desc_init(c, grid, m, n, block, block)
    end subroutine

    ! Passes arrays as old programs do, with assumed size.
    subroutine assumed(pa, pb, pc, ld)
        integer, intent(in) :: ld
        real(c_double), intent(in) :: pa(m, *), pb(k, *)
        real(c_double), intent(inout) :: pc(ld, *)
        integer :: cols
        cols = int(hsumma_local_cols(c))
        pc(:, :cols) = 96
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, pa(:, :k), a, pb(:, :n), b, 0d0, pc(:, :cols), c, status)
        call expect(status == HSUMMA_OK .and. is_product(pc(:, :cols)), 'assumed size')
    end subroutine

    ! Expects that all processes returned the error of the last one, that its message contains words, and that C is
    ! unchanged.
    subroutine refused(name, words, c_is)
        character(*), intent(in) :: name, words
        real(c_double), intent(in) :: c_is(:,:)
        call expect(status == HSUMMA_ERR_ARGUMENT .and. all(c_is == 95) .and. &
                    (rank /= ranks - 1 .or. index(hsumma_message(ctx), words) > 0), name)
    end subroutine

    subroutine test_refused
        real(c_double), allocatable, target :: pa(:,:), pb(:,:), pc(:,:)
        real(c_double), allocatable :: twice(:,:)
        real(c_double), pointer :: flat(:)
        integer :: wrong
        wrong = merge(1, 0, rank == ranks - 1)
        allocate (pa(hsumma_local_rows(a), hsumma_local_cols(a)), pb(hsumma_local_rows(b), hsumma_local_cols(b)))
        allocate (pc(hsumma_local_rows(c) + wrong, hsumma_local_cols(c)))
        call fill(a, pa)
        call fill(b, pb)
        pc = 95
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, pa, a, pb, b, 0d0, pc, c, status)
        call refused('another ld than the descriptor''s', 'ld to hsumma_desc_init', pc)
        deallocate (pc)
        allocate (pc(hsumma_local_rows(c), hsumma_local_cols(c) - wrong))
        pc = 95
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, pa, a, pb, b, 0d0, pc, c, status)
        call refused('a column too few', 'C is ', pc)
        deallocate (pc)
        allocate (pc(hsumma_local_rows(c), hsumma_local_cols(c)))
        pc = 95
        allocate (twice(2 * size(pa, 1), size(pa, 2)))
        twice = 0
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, twice(::1 + wrong, :), a, pb, b, 0d0, pc, &
                         c, status)
        call expect(status == HSUMMA_ERR_ARGUMENT .and. all(pc == 95), 'every second row, and an ld that does not fit')
        a%ld = 2 * size(pa, 1)
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, twice(::1 + wrong, :), a, pb, b, 0d0, pc, c, status)
        call refused('every second row', 'stride 2', pc)
        a%ld = max(1, size(pa, 1))
        call c_f_pointer(c_loc(pc), flat, [size(pc)])
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, reshape(pa, [size(pa)]), a, reshape(pb, [size(pb) - wrong]), b, &
                         0d0, flat, c, status)
        call refused('an element too few', 'B has ', pc)
    end subroutine

    subroutine test_plans
        real(c_double), allocatable, target :: pa(:,:), pb(:,:), pc(:,:)
        real(c_double), pointer :: flat(:)
        real(c_float), allocatable :: sa(:,:), sb(:,:), sc(:,:)
        type(hsumma_plan) :: plan
        type(hsumma_plan_info) :: info
        logical :: done
        integer :: wrong
        wrong = merge(1, 0, rank == ranks - 1)
        call hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', m, n, k, a, b, c, 'block=none', plan, status)
        call expect(status == HSUMMA_ERR_OPTION .and. .not. c_associated(plan%handle) .and. &
                    index(hsumma_message(ctx), 'block') > 0, 'a plan with a wrong option')
        call hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', int(m, c_int64_t), int(n, c_int64_t), int(k, c_int64_t), a, b, &
                                c, 'stationary=B', plan, status)
        call hsumma_plan_query(plan, info)
        call expect(status == HSUMMA_OK .and. info%stationary == 'B' .and. index(hsumma_string(info%line), &
                    'stationary=B') == 1 .and. hsumma_string(info%tuned) == 'estimated', 'a plan and what it says')
        allocate (pa(hsumma_local_rows(a), hsumma_local_cols(a)), pb(hsumma_local_rows(b), hsumma_local_cols(b)))
        allocate (pc(hsumma_local_rows(c), hsumma_local_cols(c)))
        allocate (sa(size(pa, 1), size(pa, 2)), sb(size(pb, 1), size(pb, 2)), sc(size(pc, 1), size(pc, 2)))
        call fill(a, pa)
        call fill(b, pb)
        pc = 0
        call hsumma_plan_execute(plan, 1d0, pa, pb, 0d0, pc, status)
        call expect(status == HSUMMA_OK .and. is_product(pc), 'executed')
        pc = 0
        call hsumma_plan_start(plan, 1d0, pa, pb, 0d0, pc, status)
        done = status /= HSUMMA_OK
        do while (.not. done)
            call hsumma_plan_test(plan, done, status)
            if (status /= HSUMMA_OK) exit
        end do
        call hsumma_plan_wait(plan, status)
        call expect(status == HSUMMA_OK .and. done .and. is_product(pc), 'started, tested, waited for')
        pc = 95
        call hsumma_plan_execute(plan, 1d0, pa, pb(:, :size(pb, 2) - wrong), 0d0, pc, status)
        call refused('a column too few in a plan', 'B is ', pc)
        sa = 0
        sb = 0
        sc = 0
        call hsumma_plan_execute(plan, 1., sa, sb, 0., sc, status)
        call expect(status == HSUMMA_ERR_ARGUMENT .and. index(hsumma_message(ctx), 'type D') > 0, 'arrays of another type')
        call c_f_pointer(c_loc(pc), flat, [size(pc)])
        call hsumma_plan_execute(plan, 1d0, reshape(pa, [size(pa)]), reshape(pb, [size(pb)]), 0d0, flat, status)
        call expect(status == HSUMMA_OK .and. is_product(pc), 'executed on rank 1')
        call hsumma_plan_free(plan)
        call hsumma_plan_free(plan)
        call expect(.not. c_associated(plan%handle), 'a plan freed twice')
    end subroutine

    subroutine test_collectives
        integer(c_int32_t) :: one, table(3, 4)
        integer(c_int64_t) :: big(6), sums(6)
        real(c_double) :: x(10), y(4)
        complex(c_float_complex) :: z(2, 2)
        integer :: i
        one = rank
        call hsumma_bcast(ctx, one, ranks - 1, status)
        call expect(status == HSUMMA_OK .and. one == ranks - 1, 'broadcast of a scalar')
        x = rank
        call hsumma_bcast(ctx, x(::2), 0, status)
        call expect(status == HSUMMA_OK .and. all(x(::2) == 0) .and. all(x(2::2) == rank), 'of a section, with gaps')
        big = [(int(rank, c_int64_t) * 2_c_int64_t**32 + i, i = 1, 6)]
        call hsumma_allreduce(ctx, big, sums, HSUMMA_MAX, status)
        call expect(status == HSUMMA_OK .and. all(sums == [((ranks - 1) * 2_c_int64_t**32 + i, i = 1, 6)]), 'allreduce')
        call hsumma_allreduce(ctx, big, HSUMMA_SUM, status)
        call expect(status == HSUMMA_OK .and. all(big == [(ranks * (ranks - 1_c_int64_t) / 2 * 2_c_int64_t**32 + &
                    ranks * i, i = 1, 6)]), 'allreduce in place')
        table = rank + 1
        call hsumma_reduce(ctx, table(2:, :), HSUMMA_MIN, 0, status)
        call expect(status == HSUMMA_OK .and. all(table(1, :) == rank + 1) .and. &
                    (rank /= 0 .or. all(table == 1)), 'reduce in place of a section of rank 2')
        z = cmplx(rank, 1, c_float)
        call hsumma_reduce(ctx, z, z, HSUMMA_MAX, 0, status)
        call expect(status == HSUMMA_ERR_ARGUMENT, 'no maximum of complex numbers')
        y = 94
        call hsumma_allreduce(ctx, x, y, HSUMMA_SUM, status)
        call expect(status == HSUMMA_ERR_ARGUMENT .and. all(y == 94) .and. index(hsumma_message(ctx), 'result has 4') > 0, &
                    'a result that is too short')
    end subroutine

    subroutine test_memory
        type(c_ptr) :: memory
        real(c_double), pointer :: shared(:,:)
        real(c_double), allocatable :: pa(:,:), pb(:,:)
        allocate (pa(hsumma_local_rows(a), hsumma_local_cols(a)), pb(hsumma_local_rows(b), hsumma_local_cols(b)))
        call fill(a, pa)
        call fill(b, pb)
        call hsumma_malloc(ctx, int(8 * c%ld * max(1_c_int64_t, hsumma_local_cols(c)), c_size_t), memory, status)
        call c_f_pointer(memory, shared, [hsumma_local_rows(c), hsumma_local_cols(c)])
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, pa, a, pb, b, 0d0, shared, c, status)
        call expect(status == HSUMMA_OK .and. is_product(shared), 'hsumma_malloc')
        call hsumma_mfree(ctx, memory)
    end subroutine
end program
