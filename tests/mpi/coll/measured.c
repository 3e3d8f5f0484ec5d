/*
 * The prices that a context measures at its first long broadcasts (coll/team/measure.c): all ranks then choose
 * alike, other collectives are chosen as before, calls in progress go on, and errors are as without the measurement: if
 * an allocation fails, either the call is served or all ranks have an error, and the next call is right.
 */
#include "hsumma/context/context.h"
#include "support/failing_memory.h"
#include "support/tap.h"
#include "support/world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 300 << 10, LONGER = 3 << 20, TEXT = 300, SUMMED = 5000 };

static char *buffer;

/* A context that measures, also with more ranks than processors, or recalls what `copies` has. */
static hsumma_context *context(struct hs_copies *copies, const char *options)
{
    hsumma_context *ctx = NULL;
    hsumma_create(MPI_COMM_WORLD, options, &ctx, NULL, 0);
    if (size > 1)
        ctx->team.copies = copies;
    return ctx;
}

/* Memory that remembers nothing. */
static struct hs_copies *forgetful(void)
{
    static struct hs_copies copies;
    copies = (struct hs_copies){.lock = PTHREAD_MUTEX_INITIALIZER};
    return &copies;
}

/* Whether long broadcasts of the context measure: ranks of one node may be forbidden to read each other's memory. */
static int measures(const hsumma_context *ctx)
{
    return size > 1 && ctx->comm.topology.direct;
}

/* Whether the context knows the prices of a class of long broadcasts. */
static int knows(const hsumma_context *ctx, int class)
{
    return ctx->team.selector.broadcast[class].known;
}

static hsumma_coll bcast_of(int64_t bytes, int root)
{
    return (hsumma_coll){.collective = HSUMMA_BCAST, .out = buffer, .count = bytes, .size = 1, .root = root};
}

static char byte_at(int64_t i, int root)
{
    return (char)(i * 7 + i / 251 + root);
}

/* Broadcasts; returns 1 if the result is right or all ranks have the error *status. */
static int broadcast(hsumma_context *ctx, int64_t bytes, int root, hsumma_status *status)
{
    const hsumma_coll call = bcast_of(bytes, root);
    int right = 1;
    for (int64_t i = 0; i < bytes; i++)
        buffer[i] = rank == root ? byte_at(i, root) : -1;
    *status = hsumma_coll_run(ctx, &call);
    for (int64_t i = 0; i < bytes && !*status; i++)
        right &= buffer[i] == byte_at(i, root);
    return everywhere(right) && alike(*status);
}

static void describe(hsumma_context *ctx, const hsumma_coll *call, char text[TEXT])
{
    memset(text, 0, TEXT);
    hsumma_coll_describe(ctx, call, text, TEXT);
}

/* Whether all ranks have the same text. */
static int same_everywhere(const char text[TEXT])
{
    char first[TEXT];
    memcpy(first, text, TEXT);
    MPI_Bcast(first, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
    return everywhere(memcmp(first, text, TEXT) == 0);
}

static void test_choice(int64_t bytes, const char *what)
{
    char before[TEXT], after[TEXT], sum_before[TEXT], sum_after[TEXT];
    hsumma_context *ctx = context(forgetful(), NULL), *builtin = NULL, *later = NULL;
    double number[1] = {0};
    const hsumma_coll call = bcast_of(bytes, 0), sum = {.collective = HSUMMA_ALLREDUCE,
                                                        .out = number,
                                                        .count = bytes / 8,
                                                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    hsumma_status status;
    describe(ctx, &call, before);
    describe(ctx, &sum, sum_before);
    tap_ok(broadcast(ctx, bytes, size - 1, &status) && !status, "the first %s broadcast", what);
    describe(ctx, &call, after);
    describe(ctx, &sum, sum_after);
    tap_ok(same_everywhere(after), "then all ranks have the same choice and price: %s", after);
    tap_ok(everywhere((strcmp(before, after) != 0) == measures(ctx)), "which had another price before: %s", before);
    tap_ok(everywhere(strcmp(sum_before, sum_after) == 0), "sums are chosen as before: %s", sum_after);
    tap_ok(broadcast(ctx, bytes, 0, &status) && !status, "the second %s broadcast", what);
    hsumma_create(MPI_COMM_WORLD, "profile=builtin", &builtin, NULL, 0);
    describe(builtin, &call, before);
    tap_ok(broadcast(builtin, bytes, 0, &status) && !status, "a broadcast with profile=builtin");
    describe(builtin, &call, after);
    tap_ok(everywhere(strcmp(before, after) == 0), "which measures nothing");
    later = context(ctx->team.copies, NULL);
    tap_ok(broadcast(later, bytes, 0, &status) && !status, "a broadcast in a later context");
    describe(ctx, &call, before);
    describe(later, &call, after);
    tap_ok(everywhere(strcmp(before, after) == 0), "which has the prices of the first one: %s", after);
    hsumma_free(&later);
    hsumma_free(&ctx);
    hsumma_free(&builtin);
}

/* Requests that were started before and after the first long broadcast. */
static void test_in_progress(void)
{
    static double in[SUMMED], out[2][SUMMED];
    hsumma_context *ctx = context(forgetful(), NULL);
    hsumma_request *request[3];
    int wrong = 0;
    for (int i = 0; i < SUMMED; i++)
        in[i] = rank + i;
    for (int64_t i = 0; i < LONG; i++)
        buffer[i] = rank == 0 ? byte_at(i, 0) : -1;
    hsumma_coll sum = {.collective = HSUMMA_ALLREDUCE,
                       .in = in,
                       .out = out[0],
                       .count = SUMMED,
                       .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    const hsumma_coll call = bcast_of(LONG, 0);
    hsumma_coll_start(ctx, &sum, &request[0]);
    hsumma_coll_start(ctx, &call, &request[1]);
    sum.out = out[1];
    hsumma_coll_start(ctx, &sum, &request[2]);
    for (int i = 2; i >= 0; i--)
        wrong += hsumma_coll_wait(&request[i]) != HSUMMA_OK;
    for (int i = 0; i < SUMMED; i++)
        for (int o = 0; o < 2; o++)
            wrong += out[o][i] != size * (size - 1) / 2.0 + (double)size * i;
    for (int64_t i = 0; i < LONG; i++)
        wrong += buffer[i] != byte_at(i, 0);
    tap_ok(everywhere(wrong == 0), "calls in progress around the first long broadcast");
    hsumma_free(&ctx);
}

/* While a plan executes, nothing is measured: its work would count. */
static void test_plan(void)
{
    enum { N = 96 };
    static double matrix[3][N * N];
    const double one = 1, zero = 0;
    hsumma_context *ctx = context(forgetful(), NULL);
    hsumma_grid *grid = NULL;
    hsumma_plan *plan = NULL;
    hsumma_desc desc;
    hsumma_status status, first;
    hsumma_grid_create(ctx, 1, size, 'R', NULL, &grid);
    hsumma_desc_init(&desc, grid, N, N, 8, 8);
    hsumma_plan_create(ctx, HSUMMA_D, 'N', 'N', N, N, N, &desc, &desc, &desc, "node=messages", &plan);
    status = hsumma_plan_start(plan, &one, matrix[0], matrix[1], &zero, matrix[2]);
    tap_ok(broadcast(ctx, LONG, 0, &first) && !first && !status, "a long broadcast while a plan executes");
    tap_ok(everywhere(!knows(ctx, 0)), "does not measure");
    status = hsumma_plan_wait(plan);
    tap_ok(broadcast(ctx, LONG, 0, &first) && !first && !status && everywhere(knows(ctx, 0) == measures(ctx)),
           "the next one does");
    hsumma_plan_free(&plan);
    hsumma_grid_free(&grid);
    hsumma_free(&ctx);
}

/* Sizes are rounded up to powers of two, then to whole elements, before they are priced. */
static void test_classes(void)
{
    static const struct {
        int64_t count;
        size_t unit;
        int class;
    } sizes[] = {{16 << 10, 1, -1}, {(16 << 10) + 1, 1, 0}, {30000, 24, 0}, {1 << 20, 1, 0}, {(1 << 20) + 1, 1, 1}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hsumma_context *ctx = context(forgetful(), NULL);
        hsumma_coll call = bcast_of(sizes[i].count, 0);
        char before[TEXT], after[TEXT];
        call.size = sizes[i].unit;
        describe(ctx, &call, before);
        hsumma_status status = hsumma_coll_run(ctx, &call);
        describe(ctx, &call, after);
        int measured = measures(ctx) && sizes[i].class >= 0;
        tap_ok(everywhere(!status && knows(ctx, 0) == (measured && sizes[i].class == 0) &&
                          knows(ctx, 1) == (measured && sizes[i].class == 1) &&
                          (strcmp(before, after) != 0) == measured) &&
                   same_everywhere(after),
               "%d elements of %d bytes: %s", (int)sizes[i].count, (int)sizes[i].unit, after);
        hsumma_free(&ctx);
    }
}

/* An allocator whose call number *state, counted down, takes longer than the time limit of the other ranks. */
static void *slow_get(void *state, size_t bytes)
{
    int *left = state;
    if ((*left)-- == 0)
        sleep(3);
    return malloc(bytes);
}

static void slow_put(void *state, void *memory)
{
    (void)state;
    free(memory);
}

static void test_late(void)
{
    enum { IN_MEASUREMENT = 3 };
    int left = rank == size - 1 ? IN_MEASUREMENT : -1;
    hsumma_context *ctx = context(forgetful(), "timeout=1 on_timeout=error");
    const hsumma_coll call = bcast_of(LONG, 0);
    ctx->memory = (struct hs_allocator){slow_get, slow_put, &left};
    hsumma_status status = hsumma_coll_run(ctx, &call);
    tap_ok(everywhere(status != HSUMMA_OK && hsumma_message(ctx)[0]), "a rank that is late in the measurement: %s",
           hsumma_message(ctx));
    hsumma_free(&ctx);
}

static void test_unlike(void)
{
    hsumma_context *ctx = context(forgetful(), NULL);
    hsumma_status status;
    const hsumma_coll call = bcast_of(rank == 0 ? 8 : LONG, 0);
    status = hsumma_coll_run(ctx, &call);
    tap_ok(everywhere(size == 1 ? !status : status == HSUMMA_ERR_ARGUMENT) &&
               everywhere(size == 1 || strstr(hsumma_message(ctx), "count") != NULL),
           "a broadcast that is long on some ranks only: %s", hsumma_message(ctx));
    tap_ok(broadcast(ctx, LONG, 0, &status) && !status, "then a right one");
    hsumma_free(&ctx);
}

/* Allocation number n fails on the victim during the first long broadcast, which has been priced before. */
static void test_memory(int victim)
{
    enum { ALLOCATIONS = 200 };
    int bad = 0, served = 0;
    for (int64_t n = 0; n < ALLOCATIONS; n += n < 40 ? 1 : 1 + n / 8) {
        hsumma_context *ctx = context(forgetful(), NULL);
        struct failing_memory scarce = {0, rank == victim ? n : -1, 0, 0};
        const hsumma_coll call = bcast_of(LONG, 0);
        hsumma_status status;
        char text[TEXT];
        describe(ctx, &call, text);
        ctx->memory = (struct hs_allocator){failing_memory_get, failing_memory_put, &scarce};
        bad += !broadcast(ctx, LONG, 0, &status) || (status && status != HSUMMA_ERR_MEMORY);
        bad += !everywhere(!status || hsumma_message(ctx)[0]);
        served += !status;
        ctx->memory = hs_heap;
        bad += !broadcast(ctx, LONG, 0, &status) || status;
        describe(ctx, &call, text);
        bad += !same_everywhere(text);
        hsumma_free(&ctx);
    }
    tap_ok(bad == 0 && served > 0, "memory fails on rank %d at each of %d allocations: %d served, %d wrong", victim,
           ALLOCATIONS, served, bad);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    buffer = malloc(LONGER);
    test_choice(LONG, "long");
    test_choice(LONGER, "longer");
    test_in_progress();
    test_plan();
    test_classes();
    test_unlike();
    test_memory(0);
    if (size > 1)
        test_memory(size - 1);
    if (size > 1)
        test_late();
    free(buffer);
    return world_end();
}
