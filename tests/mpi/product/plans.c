/*
 * Plans: lifetimes, one execution at a time, cached plans of the one-call routines, several contexts and
 * communicators, and a plan that is refused while another one is in progress.
 */
#include "support/product/gemm_case.h"

#include <sched.h>

/* A plan and the matrices of its next execution. */
struct run {
    struct gemm_case call;
    struct gemm_part local[3];
    hsumma_plan *plan;
};

/* Makes the plan of a call, and its matrices; returns 0 if there is no plan. */
static int run_make(hsumma_context *ctx, struct run *run, struct gemm_case call)
{
    *run = (struct run){.call = call};
    gemm_make(&run->call, run->local);
    return gemm_plan_create(ctx, &run->call, &run->plan) == HSUMMA_OK;
}

static void run_free(struct run *run)
{
    hsumma_plan_free(&run->plan);
    gemm_drop(run->local);
}

/* Starts an execution; with `wait` also completes it. */
static hsumma_status run_begin(struct run *run, int wait)
{
    return gemm_begin(run->plan, &run->call, run->local, wait);
}

/* Whether C is right or, with `untouched`, unchanged. */
static int run_right(const struct run *run, int untouched)
{
    return gemm_wrong(&run->call, &run->local[2], untouched) == 0;
}

static void test_busy(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2);
    struct run x, y;
    int done = 0, good = gemm_multiplies(ctx, &c, 0);
    good &= run_make(ctx, &x, c) & run_make(ctx, &y, c);
    good = good && !hsumma_plan_wait(x.plan) && !hsumma_plan_test(x.plan, &done) && done; /* not started */
    if (!everywhere(good)) {
        tap_ok(0, "two plans");
        return;
    }
    int refused = run_begin(&x, 0) == HSUMMA_OK && run_begin(&y, 0) == HSUMMA_ERR_BUSY &&
                  strstr(hsumma_message(ctx), "is running") && run_begin(&x, 0) == HSUMMA_ERR_BUSY &&
                  run_begin(&y, 1) == HSUMMA_ERR_BUSY && gemm_one_call(ctx, &c, y.local) == HSUMMA_ERR_BUSY;
    good = hsumma_plan_wait(x.plan) == HSUMMA_OK && run_right(&x, 0) && run_right(&y, 1);
    tap_ok(everywhere(refused), "while a plan is on its way no other may start: %s", hsumma_message(ctx));
    tap_ok(everywhere(good), "the first is not disturbed, the other's C unchanged");
    good = run_begin(&y, 1) == HSUMMA_OK && run_right(&y, 0);
    tap_ok(everywhere(good), "afterwards the other runs");
    run_free(&x);
    run_free(&y);
}

/* Frees a plan during its execution, and plans that are NULL. */
static void test_freed(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct run run;
    int good = run_make(ctx, &run, gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2)) && run_begin(&run, 0) == 0;
    hsumma_plan_free(&run.plan);
    good = good && !run.plan && run_right(&run, 0);
    tap_ok(everywhere(good), "a plan that is freed while it runs is waited for");
    run_free(&run);
    hsumma_plan_free(NULL);
}

/* Frees the context and the grid before the plan, also during an execution. */
static void test_lifetimes(void)
{
    for (int in_flight = 0; in_flight < 2; in_flight++) {
        hsumma_context *ctx;
        hsumma_grid *grid;
        struct run run;
        if (!gemm_open("lookahead=1 block=2", 1, size, &ctx, &grid))
            return;
        struct gemm_case c = gemm_case_of(grid, HSUMMA_C, 'T', 'N', 12, 13, 14, 3);
        int good = gemm_multiplies(ctx, &c, 0);
        good &= run_make(ctx, &run, c);
        if (!everywhere(good)) {
            tap_ok(0, "a plan that is to outlive its context");
            return;
        }
        if (in_flight)
            good = !run_begin(&run, 0);
        gemm_close(&ctx, &grid);
        good = good && !ctx && !grid;
        if (in_flight)
            good &= !hsumma_plan_wait(run.plan) && run_right(&run, 0);
        for (int i = 0; i < 2; i++) /* the plan keeps the grid of the descriptors alive */
            good &= gemm_executes(run.plan, &c);
        run_free(&run);
        gemm_close(&ctx, &grid); /* freed a second time */
        hsumma_free(NULL);
        tap_ok(everywhere(good), "a plan outlives its context and grid%s", in_flight ? ", freed while it runs" : "");
    }
}

/* The one-call routines with all types and transpositions; the second call reuses the plan of the first. */
static void test_one_call(hsumma_context *ctx, const hsumma_grid *grid)
{
    for (int type = HSUMMA_S; type <= HSUMMA_Z; type++) {
        int good = 1;
        for (int ops = 0; ops < 9; ops++) {
            struct gemm_case c =
                gemm_case_of(grid, (hsumma_type)type, "NTC"[ops % 3], "NTC"[ops / 3], 11, 7, 13, ops % 2 ? 3 : 0);
            good &= gemm_multiplies(ctx, &c, 0) && gemm_multiplies(ctx, &c, 0);
        }
        tap_ok(everywhere(good), "hsumma_%cgemm, all transpositions", "sdcz"[type]);
    }
}

/* Calls that differ in a single field of a descriptor need different plans. */
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
            one->offset += what == 0; /* the whole matrix keeps its size */
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
            if (i % 4 == 3 && hsumma_grid_create(ctx, Q, P, 'C', NULL, &own)) /* freed after two calls */
                good = 0;
            struct gemm_case c = gemm_case_of(own ? own : grid, shape % 2 ? HSUMMA_D : HSUMMA_S, 'N', 'N', 5 + shape, 9,
                                              8 + shape % 3, 2);
            for (int again = 0; again < 2; again++) {
                for (int x = 0; x < 3; x++)
                    c.desc[x].ld = hsumma_local_rows(&c.desc[x]) + 1 + (round + x + rank + again) % 4;
                c.alpha = again - round; /* scalars do not distinguish plans */
                c.beta = round - 1;
                good &= gemm_multiplies(ctx, &c, 0);
            }
            hsumma_grid_free(&own);
        }
    tap_ok(everywhere(good), "%d shapes in turn on grids that come and go, other ld and scalars in each call", SHAPES);
}

/* Contexts on disjoint parts of the processes, which multiply different matrices. */
static void test_parts(void)
{
    MPI_Comm part;
    hsumma_context *own = NULL;
    hsumma_grid *line = NULL;
    int members, good;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part); /* ranks in reverse order */
    MPI_Comm_size(part, &members);
    good = !hsumma_create(part, rank % 2 ? "groups=1x1" : NULL, &own, NULL, 0) &&
           !hsumma_grid_create(own, members, 1, 'R', NULL, &line);
    MPI_Comm_free(&part); /* the context has its own communicator */
    for (int i = 0; line && i < 3 + rank % 2 * 4; i++) {
        struct gemm_case c = gemm_case_of(line, HSUMMA_D, 'N', i % 2 ? 'N' : 'T', 8 + i + rank % 2, 9, 10, 2);
        good &= gemm_multiplies(own, &c, i % 2);
    }
    tap_ok(everywhere(good), "even and odd ranks multiply apart, in communicators that have been freed");
    gemm_close(&own, &line);
}

/* Two contexts on all processes, with executions in both at the same time. */
static void test_contexts(hsumma_context *ctx, const hsumma_grid *grid)
{
    hsumma_context *both[2] = {ctx, NULL};
    hsumma_grid *other;
    struct run run[2];
    int good = 1;
    if (!gemm_open("block=2 lookahead=2", size, 1, &both[1], &other))
        return;
    const hsumma_grid *on[2] = {grid, other};
    for (int i = 0; i < 6; i++) {
        struct gemm_case one = gemm_case_of(on[i % 2], HSUMMA_D, 'N', 'N', 9 + i, 8, 7, 2);
        good &= gemm_multiplies(both[i % 2], &one, i / 3);
    }
    tap_ok(everywhere(good), "two contexts used alternately");
    for (int i = 0; i < 2; i++)
        good &= run_make(both[i], &run[i], gemm_case_of(on[i], HSUMMA_D, 'T', 'N', 20 + i, 21, 22, 3));
    if (everywhere(good)) {
        int done[2] = {0, 0};
        good = !run_begin(&run[rank % 2], 0) &&
               !run_begin(&run[1 - rank % 2], 0); /* started in another order on half of the processes */
        for (double end = hs_now() + PATIENCE_S; good && !(done[0] && done[1]) && hs_now() < end; sched_yield())
            good = !hsumma_plan_test(run[0].plan, &done[0]) && !hsumma_plan_test(run[1].plan, &done[1]);
        good = good && done[0] && done[1] && run_right(&run[0], 0) && run_right(&run[1], 0);
    }
    tap_ok(everywhere(good), "two contexts with plans on their way at the same time");
    run_free(&run[0]);
    run_free(&run[1]);
    gemm_close(&both[1], &other);
}

/*
 * While one plan is in progress, another one is created and refused because of an error on one rank: neither may get
 * the other's verdict. Rank 1 is late, so ranks are at different places of the first plan's agreement.
 */
static void test_in_flight(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 20, 18, 22, 2), bad = c;
    struct run run;
    hsumma_plan *refused = NULL;
    int done = 0, good = run_make(ctx, &run, c);
    bad.desc[0].ld = rank == 0 ? 0 : bad.desc[0].ld;
    for (double end = hs_now() + (rank == 1 ? 0.3 : 0); hs_now() < end;)
        sched_yield();
    good = good && run_begin(&run, 0) == HSUMMA_OK;
    for (double end = hs_now() + 0.1; good && !done && hs_now() < end; sched_yield())
        good = hsumma_plan_test(run.plan, &done) == HSUMMA_OK;
    hsumma_status status = gemm_plan_create(ctx, &bad, &refused), result = HSUMMA_OK;
    for (double end = hs_now() + PATIENCE_S; !result && !done && hs_now() < end; sched_yield())
        result = hsumma_plan_test(run.plan, &done);
    int ended = everywhere(done || result);
    tap_ok(everywhere(good && status == HSUMMA_ERR_ARGUMENT), "a plan is refused while another is on its way: %s",
           hsumma_status_string(status));
    tap_ok(everywhere(done && !result && run_right(&run, 0)), "which is not disturbed: %s on rank 0%s",
           hsumma_status_string(result), ended ? "" : ", and some rank waits for ever");
    if (!ended) { /* freeing the plans could hang */
        tap_done();
        for (double end = hs_now() + 0.5; hs_now() < end;) /* until mpiexec has forwarded the output */
            sched_yield();
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    run_free(&run);
}

/* A process outside the first plan's grid also counts that plan as running: all refuse to start another. */
static void test_busy_outside(hsumma_context *ctx, const hsumma_grid *grid)
{
    hsumma_grid *first = NULL;
    struct run x, y;
    int done = 0, good = hsumma_grid_create(ctx, 1, size - 1, 'R', NULL, &first) == HSUMMA_OK;
    good &= run_make(ctx, &x, gemm_case_of(first, HSUMMA_D, 'N', 'N', 20, 18, 22, 2)) &
            run_make(ctx, &y, gemm_case_of(grid, HSUMMA_D, 'N', 'N', 9, 8, 7, 2));
    good = good && run_begin(&x, 0) == HSUMMA_OK && run_begin(&y, 0) == HSUMMA_ERR_BUSY;
    while (good && !done)
        good = hsumma_plan_test(x.plan, &done) == HSUMMA_OK;
    good = good && run_right(&x, 0) && run_begin(&y, 1) == HSUMMA_OK && run_right(&y, 0);
    tap_ok(everywhere(good), "a process outside the grid of the running plan refuses another one, too");
    run_free(&x);
    run_free(&y);
    hsumma_grid_free(&first);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_busy(ctx, grid);
    test_freed(ctx, grid);
    test_lifetimes();
    test_one_call(ctx, grid);
    test_cache(ctx, grid);
    test_like(ctx, grid);
    test_parts();
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
