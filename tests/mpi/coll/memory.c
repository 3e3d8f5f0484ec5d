/*
 * An allocation fails on one rank while a collective call is prepared: all ranks get HSUMMA_ERR_MEMORY, or all get the
 * right result; nothing leaks, no rank hangs, and the next call works.
 */
#include "hsumma/context/context.h"
#include "support/coll/data.h"
#include "support/failing_memory.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>

static hsumma_context *ctx;

/* Runs an allreduce of `count` numbers, in place if even; each new count is prepared anew. Returns 1 if right. */
static int sums(int64_t count, const char *word, hsumma_status *status)
{
    static double in[4096], out[4096];
    int right = 1;
    for (int64_t i = 0; i < count; i++)
        out[i] = in[i] = (double)(rank + i);
    hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                        .in = count % 2 ? in : NULL,
                        .out = out,
                        .count = count,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                        .algorithm = word};
    *status = hsumma_coll_run(ctx, &call);
    for (int64_t i = 0; i < count; i++)
        right &= out[i] == (double)(size * (size - 1) / 2 + size * i);
    return right;
}

/* Makes allocation number n of the victim fail during a call (for_good: and all later ones), then repeats the call with
 * memory. Returns 1 if both calls behave as described above; *reached: whether the victim made more allocations than n.
 * Collective. */
static int survives(const char *word, int64_t count, int victim, int64_t n, int for_good, int *reached)
{
    struct failing_memory scarce = {0, rank == victim ? n : -1, 0, for_good};
    hsumma_status status, again;
    ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
    int right = sums(count, word, &status);
    ctx->memory = hs_heap;
    *reached = (int)world_reduce(rank == victim && scarce.calls > n, MPI_MAX);
    int failed = (int)world_reduce(status != HSUMMA_OK, MPI_MAX);
    int good = failed ? status == HSUMMA_ERR_MEMORY && hsumma_message(ctx)[0] : right;
    if (failed && word) /* if the model chooses the algorithm, its memo keeps memory */
        good &= scarce.out == 0;
    good &= sums(count, word, &again) && !again;
    return world_worst(!good) == 0;
}

static void test_word(const char *word)
{
    static int64_t count = 1; /* a new count for every case, so that no earlier call has prepared it */
    for (int mode = 0; mode < 4; mode++) {
        int victim = mode % 2 ? size - 1 : 0, for_good = mode / 2, reached = 1, bad = 0;
        int64_t n = 0, places = 0;
        if (size == 1 && victim == 0 && mode % 2)
            continue;
        for (; reached && count < 4096; n += n < 30 ? 1 : 1 + n / 4, places++)
            bad += !survives(word, count++, victim, n, for_good, &reached);
        tap_ok(bad == 0 && !reached, "memory fails on rank %d %s, at %d places up to call %d, %s: %d wrong", victim,
               for_good ? "for good" : "once", (int)places, (int)n, word ? word : "chosen", bad);
    }
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"recursive_doubling", "ring", "smp", "mpi", NULL};
    world_begin(&argc, &argv);
    hsumma_create(MPI_COMM_WORLD, NULL, &ctx, NULL, 0);
    for (unsigned w = 0; w < sizeof words / sizeof *words; w++)
        test_word(words[w]);
    hsumma_free(&ctx);
    return world_end();
}
