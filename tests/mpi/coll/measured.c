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

enum { LONG = 300 << 10, LONGER = 3 << 20, TEXT = 300, SUMMED = 5000 };

static char *buffer;

/* A context that will measure, also with more ranks than processors. */
static hsumma_context *context(const char *options)
{
    hsumma_context *ctx = NULL;
    hsumma_create(MPI_COMM_WORLD, options, &ctx, NULL, 0);
    if (size > 1 && !options)
        ctx->team.measures = 1;
    return ctx;
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
    hsumma_context *ctx = context(NULL), *builtin = context("profile=builtin");
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
    tap_ok(everywhere((strcmp(before, after) != 0) == (size > 1)), "which had another price before: %s", before);
    tap_ok(everywhere(strcmp(sum_before, sum_after) == 0), "sums are chosen as before: %s", sum_after);
    tap_ok(broadcast(ctx, bytes, 0, &status) && !status, "the second %s broadcast", what);
    describe(builtin, &call, before);
    tap_ok(broadcast(builtin, bytes, 0, &status) && !status, "a broadcast with profile=builtin");
    describe(builtin, &call, after);
    tap_ok(everywhere(strcmp(before, after) == 0), "which measures nothing");
    hsumma_free(&ctx);
    hsumma_free(&builtin);
}

/* Requests that were started before and after the first long broadcast. */
static void test_in_progress(void)
{
    static double in[SUMMED], out[2][SUMMED];
    hsumma_context *ctx = context(NULL);
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

static void test_unlike(void)
{
    hsumma_context *ctx = context(NULL);
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
        hsumma_context *ctx = context(NULL);
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
    test_unlike();
    test_memory(0);
    if (size > 1)
        test_memory(size - 1);
    free(buffer);
    return world_end();
}
