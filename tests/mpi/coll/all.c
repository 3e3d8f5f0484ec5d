/*
 * Every algorithm of the registry: all elements and operators, counts from zero to several segments, several roots, in
 * place, irregular parts, real and virtual nodes; compared with results computed without the library. With the
 * argument "large" the test makes broadcasts of more than 2^31 bytes instead.
 */
#include "support/coll/data.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>

static hsumma_context *ctx;

static int run(const struct matrix_case *test)
{
    struct coll_buffer in = coll_buffer(test->given.bytes), out = coll_buffer(test->out_bytes);
    memcpy(in.data, test->given.data, test->given.bytes);
    if (test->prefilled)
        memcpy(out.data + test->place, test->given.data, test->given.bytes);
    hsumma_coll call = matrix_case_call(test, in.data, out.data);
    hsumma_status status = hsumma_coll_run(ctx, &call);
    int right = !status && memcmp(out.data, test->wanted.data, test->wanted.bytes) == 0 &&
                memcmp(in.data, test->given.data, test->given.bytes) == 0;
    right &= coll_buffer_end(&in);
    right &= coll_buffer_end(&out);
    if (!right)
        matrix_case_tell(test, "", status ? hsumma_message(ctx) : "wrong data");
    return right;
}

/* Returns 1 if an allreduce of inexact numbers fails, is inaccurate, or has different bits on different ranks. */
static int same_bits(const hsumma_algorithm_info *info, int *cases)
{
    enum { COUNT = 3001 };
    static double in[COUNT], out[COUNT];
    int64_t hash = 0;
    int close = 1;
    for (int i = 0; i < COUNT; i++)
        in[i] = 1.0 / (rank * 31 + i + 1);
    hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                        .in = in,
                        .out = out,
                        .count = COUNT,
                        .algorithm = info->name,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    if (info->collective != HSUMMA_ALLREDUCE)
        return 0;
    ++*cases;
    if (hsumma_coll_run(ctx, &call))
        return 1;
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        int64_t bits;
        for (int r = 0; r < size; r++)
            sum += 1.0 / (r * 31 + i + 1);
        memcpy(&bits, &out[i], sizeof bits);
        hash = (int64_t)((uint64_t)hash * 31 + (uint64_t)bits);
        close &= sum - out[i] < 1e-14 * sum && out[i] - sum < 1e-14 * sum;
    }
    return !close || !alike(hash);
}

static void test_context(const char *options)
{
    static const int64_t counts[] = {0, 1, 13, 257, 5003};
    char text[400] = "";
    hsumma_algorithm_info info;
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    if (!tap_ok(world_worst(status) == 0, "a context with \"%s\" %s", options, text))
        return;
    for (int i = 0; hsumma_coll_algorithm(ctx, i, &info); i++)
        matrix_test_row(&info, options, counts, run, same_bits);
    hsumma_free(&ctx);
}

static int64_t available_bytes(void)
{
    char line[128];
    long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lld", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return (int64_t)kib * 1024;
}

/* Broadcasts more than 2^31 bytes; every 8-byte word has a different value. */
static void test_large(const char *algorithm)
{
    const int64_t words = ((int64_t)1 << 28) + 12345, bytes = 8 * words + 3;
    if (world_reduce(available_bytes(), MPI_MIN) < (int64_t)6 << 30) {
        tap_skip(1, "less than 6 GiB of memory are available");
        return;
    }
    int64_t *data = malloc((size_t)bytes), wrong = data == NULL;
    hsumma_create(MPI_COMM_WORLD, algorithm, &ctx, NULL, 0);
    for (int64_t i = 0; data && i < words; i++)
        data[i] = rank == 1 ? i * 3 + 1 : 0;
    if (data)
        memset(data + words, rank == 1 ? 7 : 0, 3);
    hsumma_status status = hsumma_bcast(ctx, data, bytes, 1);
    for (int64_t i = 0; data && i < words; i++)
        wrong += data[i] != i * 3 + 1;
    wrong += status || memcmp(data + words, "\7\7\7", 3) != 0;
    tap_ok(world_worst(wrong) == 0, "a broadcast of %" PRId64 " bytes, %s: %" PRId64 " words wrong", bytes, algorithm,
           wrong);
    free(data);
    hsumma_free(&ctx);
}

int main(int argc, char **argv)
{
    world_begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "large") == 0) {
        test_large("coll=bcast:chain(segment=1M)");
        test_large("coll=bcast:flat");
        test_large("coll=bcast:shared");
    } else {
        test_context("segment=4k");
        test_context("shared=0");
        if (size > 2) {
            test_context("topology=nodes:2");
            test_context("topology=nodes:2,sockets:2 shared=4k direct=off");
        }
    }
    return world_end();
}
