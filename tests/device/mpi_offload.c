/*
 * Host matrices in contexts with a device: their products run on the device tile by tile (summa/local/local.h),
 * whether panels come by messages or shared memory. The bits do not depend on the device's timing. If a device fails
 * on one process, the BLAS completes the product there, and only that process reports it.
 */
#include "support/product/gemm_case.h"

#include "summa/local/device_state.h"

static const char *const ways[] = {"node=shared", "node=messages", "node=messages lookahead=0"};
enum { WAYS = sizeof ways / sizeof *ways };

/* Creates a context, whose device (if the options name it) is the stand-in under `policy`, and a grid. */
static int open_context(const char *policy, const char *options, hsumma_context **ctx, hsumma_grid **grid)
{
    setenv("HSUMMA_HOST_DEVICE", policy, 1);
    return gemm_open(options, 0, 0, ctx, grid);
}

/* Whether the grid can multiply with these options: all but node=messages need shared memory. */
static int is_possible(const hsumma_grid *grid, const char *way)
{
    return grid->shared.directory.entry != NULL || strncmp(way, "node=messages", 13) == 0;
}

static void test_products(const char *policy, const char *options)
{
    hsumma_context *ctx;
    hsumma_grid *grid;
    if (!open_context(policy, options, &ctx, &grid))
        return;
    for (int w = 0; w < WAYS; w++) {
        int good = 1, cases = 0;
        if (!is_possible(grid, ways[w]))
            continue;
        for (int i = 0; i < 12; i++) {
            char text[64];
            hsumma_plan *plan = NULL;
            struct gemm_case c =
                gemm_case_of(grid, (hsumma_type)(i % 4), "NTC"[i % 3], "NTC"[i / 3 % 3], 61 + i, 50 - i, 40 + i, i % 5);
            snprintf(text, sizeof text, "%s stationary=%c", size > 1 ? ways[w] : "", "CAB"[i / 2 % 3]);
            c.options = text;
            c.beta = i % 4 - 1;
            if (i % 2)
                gemm_unalign(&c, i);
            good &= gemm_plan_create(ctx, &c, &plan) == HSUMMA_OK;
            hsumma_plan_info info = plan_query(plan);
            good &= (strcmp(info.local, "host") == 0 || strcmp(info.local, "none") == 0) &&
                    strstr(info.why, "local GEMM: ") != NULL;
            hsumma_plan_free(&plan);
            good &= gemm_multiplies(ctx, &c, i % 3 > 0);
            cases++;
        }
        const int64_t *made = ctx->local->counts;
        tap_ok(everywhere(good && made[1] > 0 && made[2] == 0), "%s: %d products, by the device: %s", ways[w], cases,
               hsumma_message(ctx));
    }
    gemm_close(&ctx, &grid);
}

/* Hashes the bits of this process's part of a product, for each set of options, on a device with this policy. */
static void bits_of(const char *policy, int64_t bits[WAYS])
{
    hsumma_context *ctx;
    hsumma_grid *grid;
    memset(bits, 0, WAYS * sizeof *bits);
    if (!open_context(policy, "device=host device_memory=40k", &ctx, &grid))
        return;
    for (int w = 0; w < WAYS; w++) {
        struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'T', 90, 80, 110, 0);
        c.options = size > 1 ? ways[w] : NULL;
        c.fractions = 1;
        if (is_possible(grid, ways[w]))
            bits[w] = gemm_bits(ctx, &c, 1, NULL);
    }
    gemm_close(&ctx, &grid);
}

static void test_bits(void)
{
    static const char *const policies[] = {"lazy", "random:7", "random:8,hold=0"};
    int64_t first[WAYS], again[WAYS];
    bits_of("eager", first);
    for (int p = 0; p < 3; p++) {
        bits_of(policies[p], again);
        tap_ok(everywhere(first[1] > 0 && memcmp(first, again, sizeof first) == 0),
               "the same bits, whether the device works at once or %s", policies[p]);
    }
}

/* Makes the device of one process fail during the product: C must be right; only that process reports the failure.
 * memory: the option device_memory; with node=auto it decides whether the whole matrices go to the device. */
static void test_failure(const char *way, const char *memory, int fail)
{
    hsumma_context *ctx;
    hsumma_grid *grid;
    char policy[64] = "lazy", options[64], said[200];
    int victim = size - 1;
    if (rank == victim)
        snprintf(policy, sizeof policy, "lazy,fail=%d", fail);
    snprintf(options, sizeof options, "device=host device_memory=%s", memory);
    if (!open_context(policy, options, &ctx, &grid))
        return;
    if (!is_possible(grid, way)) {
        gemm_close(&ctx, &grid);
        return;
    }
    struct gemm_case c = gemm_case_of(grid, HSUMMA_D, 'N', 'N', 110, 120, 130, 0);
    c.options =
        size > 1 ? way : "node=messages"; /* on one process other options would multiply without the device's path */
    c.beta = fail % 2 ? 0.5 : 0;
    hsumma_plan *plan = NULL;
    int good = !gemm_plan_create(ctx, &c, &plan) && gemm_executes(plan, &c);
    int told = (strstr(hsumma_message(ctx), "falling back to the BLAS") != NULL) == (rank == victim);
    snprintf(said, sizeof said, "%s", hsumma_message(ctx));
    MPI_Bcast(said, sizeof said, MPI_CHAR, victim, MPI_COMM_WORLD);
    tap_ok(everywhere(good), "%s: work %d of process %d fails: C is right", way, fail, victim);
    tap_ok(everywhere(told), "and that process alone says so: %s", said);
    hsumma_plan_free(&plan);
    good = !gemm_plan_create(ctx, &c, &plan) && gemm_executes(plan, &c);
    hsumma_plan_info info = plan_query(plan);
    good &= strcmp(info.local, rank == victim ? "BLAS" : "host") == 0 &&
            (strstr(info.why, "local GEMM: BLAS, because") != NULL) == (rank == victim);
    hsumma_plan_free(&plan);
    good &= gemm_multiplies(ctx, &c, 0);
    good &= gemm_multiplies(ctx, &c, 1);
    tap_ok(everywhere(good), "plans name the BLAS then, and products are right");
    gemm_close(&ctx, &grid);
}

static void test_all(hsumma_context *ctx, const hsumma_grid *grid)
{
    (void)grid;
    tap_ok(ctx->local == NULL, "a context without a device has no such thing");
    test_products("eager", "device=host device_memory=20k");
    test_products("lazy", "device=host device_memory=30k");
    test_products("random:3", "device=host device_memory=12k");
    test_bits();
    for (int fail = 1; fail < 100; fail = fail * 4 + 1) {
        test_failure("node=shared", "12k", fail);
        test_failure("node=messages", "12k", fail);
    }
    for (int fail = 1; fail < 6 && size > 1; fail++)
        test_failure("node=auto", "1M", fail);
    unsetenv("HSUMMA_HOST_DEVICE");
}

int main(int argc, char **argv)
{
    return gemm_main(argc, argv, test_all);
}
