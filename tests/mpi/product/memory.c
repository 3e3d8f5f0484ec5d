/*
 * An allocation fails on one rank: all ranks get HSUMMA_ERR_MEMORY, or one plan that works; nothing leaks, no rank
 * hangs.
 */
#include "support/failing_memory.h"
#include "support/product/tuned_plan.h"

/* Makes and executes a plan while allocation n of the victim fails (for_good: and all later ones). Returns 1 if every
 * rank behaves as described above; *reached: whether the victim made more than n allocations. */
static int survives(hsumma_context *ctx, const struct gemm_case *c, int victim, int64_t n, int for_good, int *reached)
{
    struct failing_memory scarce = {0, rank == victim ? n : -1, 0, for_good};
    hsumma_plan *plan = NULL;
    ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    hsumma_status status = gemm_plan_create(ctx, c, &plan);
    *reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
    int good;
    if (world_reduce(status != HSUMMA_OK, MPI_MAX)) {
        good = status == HSUMMA_ERR_MEMORY && !plan && scarce.out == 0 && hsumma_message(ctx)[0];
    } else if (!plan_is_alike(plan)) {
        tap_diag("call %" PRId64 " failed on rank %d, which went on with another plan than the others; here: %s", n,
                 victim, plan_query(plan).line);
        good = 0;
    } else {
        int64_t calls = scarce.calls;
        good = gemm_executes(plan, c) && (scarce.calls == calls || plan->guard); /* which copies C if it can */
    }
    hsumma_plan_free(&plan);
    good = good && scarce.out == 0;
    ctx->memory = hs_heap;
    return everywhere(good);
}

static void test_plans(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const struct {
        const char *options;
        char tb;
        int unalign, k;
    } rows[] = {{"stationary=C groups=1x1 bcast=binomial block=4 lookahead=1", 'T', 0, 14},
                {"stationary=A groups=1x1 bcast=chain block=4", 'T', 0, 14},
                {"stationary=B bcast=flat block=4", 'N', 0, 14},
                {NULL, 'T', 0, 14},
                {"stationary=C groups=1x1 bcast=binomial block=4 lookahead=1", 'T', 4, 14},
                {"stationary=A groups=1x1 reduce=binomial block=4", 'T', 5, 14},
                {"guard=panels", 'T', 0, 2100}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int mode = 0; mode < (size > 1 ? 4 : 2); mode++) {
            int victim = size > 1 && mode / 2 ? size - 1 : 0, for_good = mode % 2, reached = 1;
            struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', rows[i].tb, 12, 10, rows[i].k, 2);
            int64_t n = 0, places = 0, bad = 0;
            c.options = rows[i].options;
            if (rows[i].unalign)
                gemm_unalign(&c, rows[i].unalign);
            for (; reached; n += n < 40 ? 1 : 1 + n / 10, places++)
                bad += !survives(ctx, &c, victim, n, for_good, &reached);
            tap_ok(bad == 0, "memory fails on rank %d %s, at %d places up to call %d, %s%s: %d wrong", victim,
                   for_good ? "for good" : "once", (int)places, (int)n, c.options ? c.options : "all chosen",
                   rows[i].unalign ? ", exchanged" : "", (int)bad);
        }
}

static void test_one_call(hsumma_context *ctx, const hsumma_grid *grid)
{
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    struct failing_memory scarce = {0, rank == 0 ? 3 : -1, 0, 1};
    struct gemm_part local[3];
    gemm_make(&c, local);
    ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    hsumma_status status = gemm_one_call(ctx, &c, local);
    int good = status == HSUMMA_ERR_MEMORY && gemm_wrong(&c, &local[2], 1) == 0 && scarce.out == 0;
    ctx->memory = hs_heap;
    gemm_drop(local);
    tap_ok(everywhere(good && gemm_multiplies(ctx, &c, 0)), "and in one call; the next one has memory and is right");
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    test_plans(ctx, grid);
    test_one_call(ctx, grid);
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
