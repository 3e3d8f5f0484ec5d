/*
 * Plans and what is behind them: lifetimes, one at a time, cached ones of the one-call routines, contexts and
 * communicators side by side, and a plan that is refused while another one is on its way.
 */
#include "support/product/gemm_case.h"

#include <sched.h>

static void test_busy(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2);
    struct gemm_part x[3], y[3];
    hsumma_plan *plan[2] = {NULL, NULL};
    gemm_make(&c, x);
    gemm_make(&c, y);
    int good = gemm_multiplies(ctx, &c, 0), done = 0;
    good &= !gemm_plan_create(ctx, &c, &plan[0]) && !gemm_plan_create(ctx, &c, &plan[1]);
    good = good && !hsumma_plan_wait(plan[0]) && !hsumma_plan_test(plan[0], &done) && done; /* nothing was started */
    if (!everywhere(good)) {
        tap_ok(0, "two plans");
        return;
    }
    int refused = gemm_begin(plan[0], &c, x, 0) == HSUMMA_OK && gemm_begin(plan[1], &c, y, 0) == HSUMMA_ERR_BUSY &&
                  strstr(hsumma_message(ctx), "started") && gemm_begin(plan[0], &c, x, 0) == HSUMMA_ERR_BUSY &&
                  gemm_begin(plan[1], &c, y, 1) == HSUMMA_ERR_BUSY && gemm_one_call(ctx, &c, y) == HSUMMA_ERR_BUSY;
    good = hsumma_plan_wait(plan[0]) == HSUMMA_OK && gemm_wrong(&c, &x[2], 0) == 0 && gemm_wrong(&c, &y[2], 1) == 0;
    tap_ok(everywhere(refused), "while a plan is on its way no other may start: %s", hsumma_message(ctx));
    tap_ok(everywhere(good), "the first is not disturbed, the other's C unchanged");
    good = gemm_begin(plan[1], &c, y, 1) == HSUMMA_OK && gemm_wrong(&c, &y[2], 0) == 0;
    hsumma_plan_free(&plan[0]);
    tap_ok(everywhere(good), "afterwards the other runs");
    gemm_drop(x);
    gemm_make(&c, x);
    good = gemm_begin(plan[1], &c, x, 0) == HSUMMA_OK;
    hsumma_plan_free(&plan[1]);
    good = good && !plan[1] && gemm_wrong(&c, &x[2], 0) == 0;
    tap_ok(everywhere(good), "a plan that is freed while it runs is waited for");
    hsumma_plan_free(&plan[1]);
    hsumma_plan_free(NULL);
    gemm_drop(x);
    gemm_drop(y);
}

/* Frees the context and the grid first, in the middle of an execution, too. */
static void test_lifetimes(void)
{
    for (int in_flight = 0; in_flight < 2; in_flight++) {
        hsumma_context *ctx = NULL;
        hsumma_grid *grid = NULL;
        hsumma_plan *plan = NULL;
        struct gemm_part local[3];
        int good = !hsumma_create(MPI_COMM_WORLD, "lookahead=1 block=2", &ctx, NULL, 0) &&
                   !hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
        struct gemm_case c = gemm_case_of(grid, HSUMMA_C, 'T', 'N', 12, 13, 14, 3);
        gemm_make(&c, local);
        good &= gemm_multiplies(ctx, &c, 0);
        good &= !gemm_plan_create(ctx, &c, &plan);
        if (!everywhere(good)) {
            tap_ok(0, "a plan that is to outlive its context");
            return;
        }
        if (in_flight)
            good = !gemm_begin(plan, &c, local, 0);
        hsumma_free(&ctx);
        hsumma_grid_free(&grid);
        good = good && !ctx && !grid;
        if (in_flight)
            good &= !hsumma_plan_wait(plan) && gemm_wrong(&c, &local[2], 0) == 0;
        for (int i = 0; i < 2; i++) {
            gemm_drop(local);
            /* the descriptors' grid is held by the plan only */
            gemm_make(&c, local);
            good &= !gemm_begin(plan, &c, local, 1) && gemm_wrong(&c, &local[2], 0) == 0;
        }
        gemm_drop(local);
        hsumma_plan_free(&plan);
        hsumma_free(&ctx);
        hsumma_free(NULL);
        hsumma_grid_free(&grid);
        tap_ok(everywhere(good), "a plan outlives its context and grid%s", in_flight ? ", freed while it runs" : "");
    }
}

/* The one-call routines: types, transpositions, offsets; then more shapes than are remembered, with changing ld. */
static void test_one_call(hsumma_context *ctx, const hsumma_grid *grid)
{
    int P, Q, good;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int type = HSUMMA_S; type <= HSUMMA_Z; type++) {
        good = 1;
        for (int ops = 0; ops < 9; ops++) {
            struct gemm_case c =
                gemm_case_of(grid, (hsumma_type)type, "NTC"[ops % 3], "NTC"[ops / 3], 11, 7, 13, ops % 2 ? 3 : 0);
            good &= gemm_multiplies(ctx, &c, 0) && gemm_multiplies(ctx, &c, 0);
        }
        tap_ok(everywhere(good), "hsumma_%cgemm, all transpositions", "sdcz"[type]);
    }
    good = 1;
    for (int ops = 0; ops < 9; ops++) {
        struct gemm_case c = gemm_case_of(grid, (hsumma_type)(ops % 4), "NTC"[ops % 3], "NTC"[ops / 3], 11, 7, 13, 3);
        gemm_unalign(&c, ops);
        good &= gemm_multiplies(ctx, &c, 0) && gemm_multiplies(ctx, &c, 0) && gemm_multiplies(ctx, &c, 1);
    }
    tap_ok(everywhere(good), "operands that are spread each in its own way");
    good = 1;
    for (int ops = 0; ops < 4; ops++) { /* operands that begin inside larger matrices, and inside blocks */
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, "NT"[ops % 2], "NT"[ops / 2], 9, 8, 10, 2);
        for (int x = 0; x < 3; x++) {
            hsumma_desc *d = &c.desc[x];
            int64_t m = d->m, n = d->n;
            hsumma_desc_init(d, grid, m + 3, n + 5, 4, 4);
            d->imb = d->inb = 2; /* rows 1..  of blocks that begin at 0, 2, 6, ... */
            d->rsrc = P - 1;
            d->csrc = Q - 1;
            d->i = 1;
            d->j = 1;
            d->ld = hsumma_local_rows(d) + GEMM_PAD;
        }
        good &= gemm_multiplies(ctx, &c, 0) && gemm_multiplies(ctx, &c, 1);
    }
    tap_ok(everywhere(good), "operands at (1, 1) of larger matrices, with short first blocks and other sources");
}

/* Calls of one shape that differ in a single field of a descriptor take plans of their own. */
static void test_like(hsumma_context *ctx, const hsumma_grid *grid)
{
    int good = 1, P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int round = 0; round < 2; round++)
        for (int field = 0; field < 30; field++) {
            struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 13, 14, 4);
            struct gemm_layout of[2] = {{4, 4, 0, 2, 4}, {4, 4, 0, 2, 4}};
            struct gemm_layout *one = &of[field % 2];
            int x = field / 2 % 3, what = field / 6, procs = field % 2 ? Q : P;
            one->block += what == 1;
            one->first -= what == 2;
            one->src = what == 3 ? procs - 1 : what == 4 ? -1 : 0;
            one->offset += what == 0; /* the whole matrix stays as large */
            one->behind -= what == 0;
            for (int y = 0; y < 3; y++)
                gemm_spread(&c, y, &(struct gemm_layout){4, 4, 0, 2, 4}, &(struct gemm_layout){4, 4, 0, 2, 4});
            good &= gemm_multiplies(ctx, &c, 0);
            gemm_spread(&c, x, &of[0], &of[1]);
            good &= gemm_multiplies(ctx, &c, 0);
        }
    tap_ok(everywhere(good), "calls that differ in one field of one descriptor");
}

static void test_cache(hsumma_context *ctx, const hsumma_grid *grid)
{
    enum { SHAPES = 11, ROUNDS = 3 };
    int good = 1, P, Q;
    hsumma_grid_info(grid, &P, &Q, NULL, NULL);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SHAPES; i++) {
            hsumma_grid *own = NULL;
            int shape = round == 1 ? SHAPES - 1 - i : i;
            if (i % 4 == 3 && hsumma_grid_create(ctx, Q, P, 'C', NULL, &own)) /* used for one call and freed */
                good = 0;
            struct gemm_case c = gemm_case_of(own ? own : grid, shape % 2 ? HSUMMA_D : HSUMMA_S, 'N', 'N', 5 + shape, 9,
                                              8 + shape % 3, 2);
            for (int again = 0; again < 2; again++) {
                for (int x = 0; x < 3; x++)
                    c.desc[x].ld = hsumma_local_rows(&c.desc[x]) + 1 + (round + x + rank + again) % 4;
                c.alpha = again - round; /* neither are the scalars part of the plan */
                c.beta = round - 1;
                good &= gemm_multiplies(ctx, &c, 0);
            }
            hsumma_grid_free(&own);
        }
    tap_ok(everywhere(good), "%d shapes in turn on grids that come and go, other ld and scalars in each call", SHAPES);
}

/* Contexts on parts of the processes, with unlike work, and two contexts on all of them. */
static void test_contexts(hsumma_context *ctx, const hsumma_grid *grid)
{
    MPI_Comm part;
    hsumma_context *own = NULL;
    hsumma_grid *line = NULL;
    int members, good;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part); /* in reverse */
    MPI_Comm_size(part, &members);
    good = !hsumma_create(part, rank % 2 ? "groups=1x1" : NULL, &own, NULL, 0) &&
           !hsumma_grid_create(own, members, 1, 'R', NULL, &line);
    MPI_Comm_free(&part); /* the context has its own */
    for (int i = 0; line && i < 3 + rank % 2 * 4; i++) {
        struct gemm_case c = gemm_case_of(line, HSUMMA_D, 'N', i % 2 ? 'N' : 'T', 8 + i + rank % 2, 9, 10, 2);
        good &= gemm_multiplies(own, &c, i % 2);
    }
    tap_ok(everywhere(good), "even and odd ranks multiply apart, in communicators that have been freed");
    hsumma_grid_free(&line);
    hsumma_free(&own);

    hsumma_context *both[2] = {ctx, NULL};
    const hsumma_grid *on[2] = {grid, NULL};
    hsumma_plan *plan[2] = {NULL, NULL};
    struct gemm_case c[2];
    struct gemm_part local[2][3];
    hsumma_grid *other = NULL;
    good = !hsumma_create(MPI_COMM_WORLD, "block=2 lookahead=2", &both[1], NULL, 0) &&
           !hsumma_grid_create(both[1], size, 1, 'R', NULL, &other);
    on[1] = other;
    for (int i = 0; other && i < 6; i++) {
        struct gemm_case one = gemm_case_of(on[i % 2], HSUMMA_D, 'N', 'N', 9 + i, 8, 7, 2);
        good &= gemm_multiplies(both[i % 2], &one, i / 3);
    }
    tap_ok(everywhere(good), "two contexts used alternately");
    for (int i = 0; other && i < 2; i++) {
        c[i] = gemm_case_of(on[i], HSUMMA_D, 'T', 'N', 20 + i, 21, 22, 3);
        gemm_make(&c[i], local[i]);
        good &= !gemm_plan_create(both[i], &c[i], &plan[i]);
    }
    if (everywhere(good)) {
        int done[2] = {0, 0};
        good = !gemm_begin(plan[rank % 2], &c[rank % 2], local[rank % 2], 0) && /* not in the same order everywhere */
               !gemm_begin(plan[1 - rank % 2], &c[1 - rank % 2], local[1 - rank % 2], 0);
        for (double end = hs_now() + PATIENCE_S; good && !(done[0] && done[1]) && hs_now() < end; sched_yield())
            good = !hsumma_plan_test(plan[0], &done[0]) && !hsumma_plan_test(plan[1], &done[1]);
        good =
            good && done[0] && done[1] && gemm_wrong(&c[0], &local[0][2], 0) + gemm_wrong(&c[1], &local[1][2], 0) == 0;
    }
    for (int i = 0; other && i < 2; i++)
        gemm_drop(local[i]);
    tap_ok(everywhere(good), "two contexts with plans on their way at the same time");
    hsumma_plan_free(&plan[0]);
    hsumma_plan_free(&plan[1]);
    hsumma_grid_free(&other);
    hsumma_free(&both[1]);
}

/*
 * While one plan is on its way, another is planned, and refused for what one rank got wrong: neither may mistake the
 * other's verdict for its own.  Rank 1 is late, so that ranks stand at different places of the first plan's agreement.
 */
static void test_in_flight(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2), bad = c;
    struct gemm_part local[3];
    hsumma_plan *plan = NULL, *refused = NULL;
    int done = 0;
    gemm_make(&c, local);
    int good = gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK;
    bad.desc[0].ld = rank == 0 ? 0 : bad.desc[0].ld;
    for (double end = hs_now() + (rank == 1 ? 0.3 : 0); hs_now() < end;)
        sched_yield();
    good = good && gemm_begin(plan, &c, local, 0) == HSUMMA_OK;
    for (double end = hs_now() + 0.1; good && !done && hs_now() < end; sched_yield())
        good = hsumma_plan_test(plan, &done) == HSUMMA_OK;
    hsumma_status status = gemm_plan_create(ctx, &bad, &refused), result = HSUMMA_OK;
    for (double end = hs_now() + PATIENCE_S; !result && !done && hs_now() < end; sched_yield())
        result = hsumma_plan_test(plan, &done);
    int ended = everywhere(done || result);
    tap_ok(everywhere(good && status == HSUMMA_ERR_ARGUMENT), "a plan is refused while another is on its way: %s",
           hsumma_status_string(status));
    tap_ok(everywhere(done && !result && gemm_wrong(&c, &local[2], 0) == 0), "which is not disturbed: %s on rank 0%s",
           hsumma_status_string(result), ended ? "" : ", and some rank waits for ever");
    if (!ended) { /* nothing can be freed: a rank would wait */
        tap_done();
        for (double end = hs_now() + 0.5; hs_now() < end;) /* until mpiexec has passed on what was printed */
            sched_yield();
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    hsumma_plan_free(&plan);
    gemm_drop(local);
}

/* A process outside the first plan's grid counts it as running, too: all refuse the second one alike. */
static void test_busy_outside(hsumma_context *ctx, const hsumma_grid *grid)
{
    hsumma_grid *first = NULL;
    int good = hsumma_grid_create(ctx, 1, size - 1, 'R', NULL, &first) == HSUMMA_OK;
    struct gemm_case c = gemm_case_of(first, HSUMMA_D, 'N', 'N', 20, 18, 22, 2),
                     d = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 9, 8, 7, 2);
    struct gemm_part x[3], y[3];
    hsumma_plan *plan[2] = {NULL, NULL};
    int done = 0;
    gemm_make(&c, x);
    gemm_make(&d, y);
    good = good && !gemm_plan_create(ctx, &c, &plan[0]) && !gemm_plan_create(ctx, &d, &plan[1]);
    good = good && gemm_begin(plan[0], &c, x, 0) == HSUMMA_OK && gemm_begin(plan[1], &d, y, 0) == HSUMMA_ERR_BUSY;
    while (good && !done)
        good = hsumma_plan_test(plan[0], &done) == HSUMMA_OK;
    good = good && gemm_wrong(&c, &x[2], 0) == 0 && gemm_begin(plan[1], &d, y, 1) == HSUMMA_OK &&
           gemm_wrong(&d, &y[2], 0) == 0;
    tap_ok(everywhere(good), "a process outside the grid of the running plan refuses another one, too");
    hsumma_plan_free(&plan[0]);
    hsumma_plan_free(&plan[1]);
    hsumma_grid_free(&first);
    gemm_drop(x);
    gemm_drop(y);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_busy(ctx, grid);
    test_lifetimes();
    test_one_call(ctx, grid);
    test_cache(ctx, grid);
    test_like(ctx, grid);
    test_contexts(ctx, grid);
    if (size > 1) {
        test_busy_outside(ctx, grid);
        test_in_flight(ctx, grid);
    }
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
