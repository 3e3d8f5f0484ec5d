! A ScaLAPACK program in which hsumma's call replaces pdgemm. "was:", above or beside a line, shows what it replaces.
! The old call is also made, for comparison. Compile: mpifort pdgemm.f90 -lhsumma -lscalapack-mpich
program pdgemm_replaced
    use hsumma ! was: nothing
    implicit none
    integer, parameter :: m = 300, n = 200, k = 250, block = 32
    integer :: context, processes, me, nprow, npcol, row, col, info, comm, status
    integer :: desca(9), descb(9), descc(9)
    type(hsumma_context) :: ctx
    type(hsumma_grid) :: grid
    type(hsumma_desc) :: a_desc, b_desc, c_desc
    double precision, allocatable :: a(:,:), b(:,:), c(:,:), old(:,:)
    double precision :: worst
    integer, external :: numroc

    call blacs_pinfo(me, processes)
    nprow = int(sqrt(real(processes)))
    npcol = processes / nprow
    call blacs_get(-1, 0, context)
    call blacs_gridinit(context, 'R', nprow, npcol)
    call blacs_gridinfo(context, nprow, npcol, row, col)
    if (row >= 0) then ! a process of the grid
        call descinit(desca, m, k, block, block, 0, 0, context, max(1, numroc(m, block, row, 0, nprow)), info)
        call descinit(descb, k, n, block, block, 0, 0, context, max(1, numroc(k, block, row, 0, nprow)), info)
        call descinit(descc, m, n, block, block, 0, 0, context, max(1, numroc(m, block, row, 0, nprow)), info)
        allocate (a(desca(9), numroc(k, block, col, 0, npcol)), b(descb(9), numroc(n, block, col, 0, npcol)))
        allocate (c(descc(9), numroc(n, block, col, 0, npcol)))
        call random_number(a)
        call random_number(b)
        call random_number(c)
        old = c

        ! Once per BLACS context. Its communicator has the processes of the grid, row by row.
        call blacs_get(context, 10, comm)                              ! was: nothing
        call hsumma_create(comm, '', ctx, status)                      ! was: nothing
        if (status == HSUMMA_OK) call hsumma_grid_create(ctx, nprow, npcol, 'R', grid, status)
        ! Once per matrix.
        if (status == HSUMMA_OK) call hsumma_desc_from_scalapack(a_desc, grid, desca, status)
        if (status == HSUMMA_OK) call hsumma_desc_from_scalapack(b_desc, grid, descb, status)
        if (status == HSUMMA_OK) call hsumma_desc_from_scalapack(c_desc, grid, descc, status)
        if (status /= HSUMMA_OK) call blacs_abort(context, status)

        ! was: call pdgemm('N', 'N', m, n, k, 1d0, a, 1, 1, desca, b, 1, 1, descb, 2d0, c, 1, 1, descc)
        call hsumma_gemm(ctx, 'N', 'N', m, n, k, 1d0, a, a_desc, b, b_desc, 2d0, c, c_desc, status)
        if (status /= HSUMMA_OK) print *, hsumma_message(ctx)

        call pdgemm('N', 'N', m, n, k, 1d0, a, 1, 1, desca, b, 1, 1, descb, 2d0, old, 1, 1, descc)
        worst = maxval(abs(c - old))

        ! With parts of the matrices.
        ! was: call pdgemm('T', 'N', 100, n, 50, 1d0, a, 33, 2, desca, b, 33, 1, descb, 0d0, c, 65, 1, descc)
        call hsumma_gemm(ctx, 'T', 'N', 100, n, 50, 1d0, a, hsumma_at(a_desc, 33, 2), b, hsumma_at(b_desc, 33, 1), &
                         0d0, c, hsumma_at(c_desc, 65, 1), status)
        if (status /= HSUMMA_OK) print *, hsumma_message(ctx)

        call pdgemm('T', 'N', 100, n, 50, 1d0, a, 33, 2, desca, b, 33, 1, descb, 0d0, old, 65, 1, descc)
        worst = max(worst, maxval(abs(c - old)))
        call dgamx2d(context, 'A', ' ', 1, 1, worst, 1, info, info, -1, -1, 0)
        if (row == 0 .and. col == 0) print '(a, es8.1)', 'largest difference from pdgemm: ', worst
        call hsumma_grid_free(grid)
        call hsumma_free(ctx)
        call blacs_gridexit(context)
    end if
    call blacs_exit(0)
end program
