/*
 * An allocation that fails on one rank, at every place: HSUMMA_ERR_MEMORY everywhere, nothing left behind, nobody
 * waits.
 */
#include "support/failing_memory.h"
#include "support/product/gemm_case.h"

static int64_t hash_of(const char *text)
{
    uint64_t h = 5381;
    for (; *text; text++)
        h = h * 33 + (unsigned char)*text;
    return (int64_t)(h >> 2);
}

/* One plan with memory that fails on the victim at the n-th call: 1 if all is well; *reached: that call was made. */
static int survives(hsumma_context *ctx, const struct gemm_case *c, int victim, int64_t n, int for_good, int *reached)
{
    struct failing_memory scarce = {0, rank == victim ? n : -1, 0, for_good};
    struct gemm_part local[3];
    hsumma_plan *plan = NULL;
    hsumma_plan_info info;
    ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    hsumma_status status = gemm_plan_create(ctx, c, &plan);
    *reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
    int failed = (int)world_reduce(status != HSUMMA_OK, MPI_MAX), alike = 1;
    if (!failed) {
        hsumma_plan_query(plan, &info);
        int64_t line = hash_of(info.line);
        alike = world_reduce(line, MPI_MIN) == world_reduce(line, MPI_MAX);
    }
    int good = failed ? status == HSUMMA_ERR_MEMORY && !plan && scarce.out == 0 && hsumma_message(ctx)[0] : alike;
    if (!failed && !alike)
        tap_diag("call %" PRId64 " failed on rank %d, which went on with another plan than the others; here: %s", n,
                 victim, info.line);
    if (!failed && alike) {
        gemm_make(c, local);
        int64_t calls = scarce.calls;
        good = gemm_begin(plan, c, local, 1) == HSUMMA_OK && gemm_wrong(c, &local[2], 0) == 0 && scarce.calls == calls;
        gemm_drop(local);
    }
    hsumma_plan_free(&plan);
    good = good && scarce.out == 0;
    ctx->memory = hs_heap;
    return everywhere(good);
}

static void test_memory(hsumma_context *ctx, const hsumma_grid *grid)
{
    static const char *const options[] = {
        "stationary=C groups=1x1 bcast=binomial block=4 lookahead=1",
        "stationary=A groups=1x1 bcast=chain block=4",
        "stationary=B bcast=flat block=4",
        NULL,
        "stationary=C groups=1x1 bcast=binomial block=4 lookahead=1", /* and not aligned */
        "stationary=A groups=1x1 reduce=binomial block=4",
    };
    for (int o = 0; o < 6; o++)
        for (int mode = 0; mode < 4; mode++) {
            int victim = mode % 2 ? size - 1 : 0, for_good = mode / 2, good = 1, reached = 1;
            struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', o == 2 ? 'N' : 'T', 12, 10, 14, 2);
            int64_t n = 0, places = 0, bad = 0;
            c.options = options[o];
            if (o > 3)
                gemm_unalign(&c, o);
            if (size == 1 && victim == 0 && mode % 2)
                continue;
            for (; reached; n += n < 40 ? 1 : 1 + n / 10, places++) {
                good = survives(ctx, &c, victim, n, for_good, &reached);
                bad += !good;
            }
            tap_ok(bad == 0, "memory fails on rank %d %s, at %d places up to call %d, %s%s: %d wrong", victim,
                   for_good ? "for good" : "once", (int)places, (int)n, c.options ? c.options : "all chosen",
                   o > 3 ? ", exchanged" : "", (int)bad);
        }
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 12, 10, 14, 2);
    struct failing_memory scarce = {0, rank == 0 ? 3 : -1, 0, 1};
    struct gemm_part local[3];
    gemm_make(&c, local);
    ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    hsumma_status status = gemm_one_call(ctx, &c, local);
    int good = status == HSUMMA_ERR_MEMORY && gemm_wrong(&c, &local[2], 1) == 0 && scarce.out == 0;
    ctx->memory = hs_heap;
    good &= gemm_one_call(ctx, &c, local) == HSUMMA_OK && gemm_wrong(&c, &local[2], 0) == 0;
    gemm_drop(local);
    tap_ok(everywhere(good), "and in one call; the next one has memory and is right");
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_memory);
}
