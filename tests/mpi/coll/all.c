/*
 * Every algorithm of the registry on every collective: all kinds of elements and operators, counts from none to several
 * segments, roots, in place, irregular parts, real and virtual nodes; against results computed without the library.
 *   mpi_coll          the matrix
 *   mpi_coll large    broadcasts of more than 2^31 bytes
 */
#include "support/coll/data.h"
#include "support/tap.h"
#include "support/world.h"

#include <inttypes.h>

static hsumma_context *ctx;
static int64_t combined; /* elements that the user's operator has seen */

/* One case; irregular: parts differ, and some are empty. */
struct test {
    const struct coll_kind *kind;
    const char *algorithm;
    int64_t count;
    int root, in_place, irregular;
};

static int64_t part_of(const struct test *test, int r)
{
    return !test->irregular ? test->count : r % 3 == 1 ? 0 : test->count + r;
}

static int64_t before(const struct test *test, int r)
{
    int64_t sum = 0;
    for (int i = 0; i < r; i++)
        sum += part_of(test, i);
    return sum;
}

/* Runs it; `given` goes in, and `wanted` must come out; 1 if it does and nothing else has changed. */
static int run(const struct test *test, hsumma_collective collective, const struct coll_buffer *given,
               const struct coll_buffer *wanted, int64_t place)
{
    static int64_t counts[64];
    size_t unit = test->kind->size, out_bytes = wanted->bytes;
    int contributes_in_out =
        test->in_place && collective != HSUMMA_BCAST && (collective != HSUMMA_REDUCE || rank == test->root);
    if (contributes_in_out && out_bytes < (size_t)place + given->bytes)
        out_bytes = (size_t)place + given->bytes;
    struct coll_buffer in = coll_buffer(given->bytes), out = coll_buffer(out_bytes);
    memcpy(in.data, given->data, given->bytes);
    if (contributes_in_out || (collective == HSUMMA_BCAST && rank == test->root))
        memcpy(out.data + place, given->data, given->bytes);
    for (int r = 0; r < size; r++)
        counts[r] = part_of(test, r);
    hsumma_coll call = {.collective = collective,
                        .in = contributes_in_out ? test->count % 2 ? NULL : out.data : in.data,
                        .out = out.data,
                        .count = test->count,
                        .counts = test->irregular ? counts : NULL,
                        .size = unit,
                        .root = test->root,
                        .algorithm = test->algorithm,
                        .op = {test->kind->op, test->kind->element, coll_product, &combined, unit, 0}};
    hsumma_status status = hsumma_coll_run(ctx, &call);
    int right = !status && memcmp(out.data, wanted->data, wanted->bytes) == 0 &&
                memcmp(in.data, given->data, given->bytes) == 0;
    right &= coll_buffer_end(&in);
    right &= coll_buffer_end(&out);
    if (!right)
        printf("# rank %d: %s %s, %s of %" PRId64 ", root %d%s%s: %s\n", rank, test->algorithm, test->kind->name,
               collective == HSUMMA_REDUCE ? "to a root" : "", test->count, test->root,
               test->in_place ? ", in place" : "", test->irregular ? ", irregular" : "",
               status ? hsumma_message(ctx) : "wrong data");
    return right;
}

/* Prepares what goes in and what has to come out. */
static int one(const struct test *test, hsumma_collective collective)
{
    const struct coll_kind *kind = test->kind;
    size_t unit = kind->size;
    int parted = collective == HSUMMA_ALLGATHER || collective == HSUMMA_REDUCE_SCATTER;
    int64_t all = parted ? before(test, size) : test->count, mine = part_of(test, rank), first = before(test, rank);
    int64_t ins = collective == HSUMMA_ALLGATHER ? mine : all, outs = collective == HSUMMA_REDUCE_SCATTER ? mine : all;
    struct coll_buffer given = coll_buffer((size_t)ins * unit), wanted = coll_buffer((size_t)outs * unit);
    coll_fill(kind, rank, 0, ins, given.data);
    if (collective == HSUMMA_BCAST)
        coll_fill(kind, test->root, 0, outs, wanted.data);
    else if (collective == HSUMMA_ALLGATHER)
        for (int r = 0; r < size; r++)
            coll_fill(kind, r, 0, part_of(test, r), wanted.data + (size_t)before(test, r) * unit);
    else if (collective == HSUMMA_REDUCE_SCATTER)
        coll_result(kind, size, first, mine, wanted.data);
    else if (collective == HSUMMA_ALLREDUCE || rank == test->root)
        coll_result(kind, size, 0, all, wanted.data);
    int right = run(test, collective, &given, &wanted, collective == HSUMMA_ALLGATHER ? first * (int64_t)unit : 0);
    right &= coll_buffer_end(&given);
    right &= coll_buffer_end(&wanted);
    return right;
}

/* Bits of the sum of numbers that are not exact, from rank 0's point of view: 1 if all ranks have the same. */
static int same_bits(const char *algorithm)
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
                        .algorithm = algorithm,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    if (hsumma_coll_run(ctx, &call))
        return 0;
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        int64_t bits;
        for (int r = 0; r < size; r++)
            sum += 1.0 / (r * 31 + i + 1);
        memcpy(&bits, &out[i], sizeof bits);
        hash = (int64_t)((uint64_t)hash * 31 + (uint64_t)bits);
        close &= sum - out[i] < 1e-14 * sum && out[i] - sum < 1e-14 * sum;
    }
    return close && world_reduce(hash, MPI_MIN) == world_reduce(hash, MPI_MAX);
}

static void test_row(const hsumma_algorithm_info *info, const char *options)
{
    static const int64_t counts[] = {0, 1, 13, 257, 5003};
    hsumma_collective collective = info->collective;
    int reduces = collective != HSUMMA_BCAST && collective != HSUMMA_ALLGATHER, wrong = 0, cases = 0;
    int rooted = collective == HSUMMA_BCAST || collective == HSUMMA_REDUCE;
    for (int k = 0; k < (reduces ? COLL_KINDS : 2); k++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int variant = 0; variant < 4; variant++) {
                struct test test = {&coll_kinds[k], info->name, counts[c], 0, variant & 1, 0};
                if (rooted)
                    test.root = variant < 2 ? (int)(c + (unsigned)k) % size : size - 1;
                else
                    test.irregular = variant >> 1;
                if ((variant & 2 && collective == HSUMMA_ALLREDUCE) ||
                    (k > 1 && (counts[c] != 257 || variant != k % 2)))
                    continue;
                cases++;
                wrong += !one(&test, collective);
            }
    if (collective == HSUMMA_ALLREDUCE) {
        cases++;
        wrong += !same_bits(info->name);
    }
    static const char *const names[] = {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter"};
    wrong = (int)world_worst(wrong);
    tap_ok(wrong == 0, "%s %s on %d, %s: %d cases, %d wrong", names[collective], info->name, size,
           *options ? options : "as it is", cases, wrong);
}

static void test_context(const char *options)
{
    char text[400] = "";
    hsumma_algorithm_info info;
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, options, &ctx, text, sizeof text);
    if (!tap_ok(world_worst(status) == 0, "a context with \"%s\" %s", options, text))
        return;
    for (int i = 0; hsumma_coll_algorithm(ctx, i, &info); i++)
        test_row(&info, options);
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

/* More than 2^31 bytes, in words that say where they are. */
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
    int failed = tap_done();
    MPI_Finalize();
    return failed;
}
