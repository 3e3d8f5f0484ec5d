/*
 * Collective calls on device memory: every row, all kinds of elements and operators, counts from none to more than
 * there is room for, roots, in place, irregular parts, memory that peers have mapped and memory that they have not,
 * real and virtual nodes.  Results are compared with ones computed without the library, and with the same call on host
 * memory.
 */
#include "support/device/coll_device.h"

struct test {
    const struct coll_kind *kind;
    const char *algorithm;
    int64_t count;
    int root, in_place, irregular;
    enum where in, out;
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

/* A buffer with guards somewhere in an arena; what is in it comes and goes by the context's stream. */
struct buffer {
    char *at;
    size_t bytes, all;
};

static struct buffer take(enum where where, int which, size_t bytes, size_t unit, const void *data, size_t filled,
                          size_t place)
{
    struct buffer buffer = {coll_arena[where][which], bytes, (bytes + 2 * COLL_GUARD + unit + 15) / 16 * 16};
    char *image = malloc(buffer.all);
    memset(image, 0xA5, buffer.all);
    memcpy(image + COLL_GUARD + unit + place, data, filled);
    if (buffer.all > ARENA || hsumma_copy(ctx, buffer.at, image, buffer.all))
        abort();
    free(image);
    buffer.at += COLL_GUARD + unit;
    return buffer;
}

/* 1 if `wanted` bytes are there and the guards are whole. */
static int check(const struct buffer *buffer, size_t unit, const void *wanted, size_t bytes)
{
    unsigned char *image = malloc(buffer->all);
    int right = hsumma_copy(ctx, image, buffer->at - COLL_GUARD - unit, buffer->all) == HSUMMA_OK;
    size_t begin = COLL_GUARD + unit, end = begin + buffer->bytes;
    for (size_t i = 0; i < buffer->all; i++)
        right &= (i >= begin && i < end) || image[i] == 0xA5;
    right &= memcmp(image + begin, wanted, bytes) == 0;
    free(image);
    return right;
}

/* Runs it; `given` goes in, and `wanted` must come out. */
static int run(const struct test *test, hsumma_collective collective, const struct coll_buffer *given,
               const struct coll_buffer *wanted, size_t place)
{
    static int64_t counts[64];
    size_t unit = test->kind->size, out_bytes = wanted->bytes;
    int in_out = test->in_place && collective != HSUMMA_BCAST && (collective != HSUMMA_REDUCE || rank == test->root);
    int gives = in_out || (collective == HSUMMA_BCAST && rank == test->root);
    if (in_out && out_bytes < place + given->bytes)
        out_bytes = place + given->bytes;
    struct buffer in = take(test->in, 0, given->bytes, unit, given->data, given->bytes, 0);
    struct buffer out = take(test->out, 1, out_bytes, unit, given->data, gives ? given->bytes : 0, place);
    for (int r = 0; r < size; r++)
        counts[r] = part_of(test, r);
    hsumma_coll call = {.collective = collective,
                        .in = in_out ? test->count % 2 ? NULL : out.at : in.at,
                        .out = out.at,
                        .count = test->count,
                        .counts = test->irregular ? counts : NULL,
                        .size = unit,
                        .root = test->root,
                        .algorithm = test->algorithm,
                        .op = {test->kind->op, test->kind->element, coll_product, &combined, unit, 0}};
    hsumma_status status = hsumma_coll_run(ctx, &call);
    if (test->in == IN_HOST && !in_out) { /* the caller may write to it again */
        memset(in.at, 0, given->bytes);
        memcpy(in.at, given->data, given->bytes);
    }
    int there = status || test->out != IN_HOST || memcmp(out.at, wanted->data, wanted->bytes) == 0;
    int right = !status && there && check(&out, unit, wanted->data, wanted->bytes) &&
                check(&in, unit, given->data, given->bytes);
    if (!right)
        printf("# rank %d: %s %s, collective %d of %" PRId64 ", root %d%s%s, %s %s: %s\n", rank, test->algorithm,
               test->kind->name, collective, test->count, test->root, test->in_place ? ", in place" : "",
               test->irregular ? ", irregular" : "", coll_memory_names[test->in], coll_memory_names[test->out],
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
    else
        memset(wanted.data, 0xA5, wanted.bytes);
    int right = run(test, collective, &given, &wanted, collective == HSUMMA_ALLGATHER ? (size_t)first * unit : 0);
    free(given.memory);
    free(wanted.memory);
    return right;
}

/* Sums of numbers that are not exact have the bits of the same call on host memory. */
static int same_bits(hsumma_collective collective, const char *algorithm, int64_t count)
{
    int64_t ins = collective == HSUMMA_REDUCE_SCATTER ? count * size : count;
    size_t in_bytes = (size_t)ins * sizeof(double), out_bytes = (size_t)count * sizeof(double);
    double *in = malloc(in_bytes), *out = calloc((size_t)count, sizeof(double)), *back = malloc(out_bytes);
    hsumma_status status = HSUMMA_OK;
    for (int64_t i = 0; i < ins; i++)
        in[i] = 1.0 / (double)(rank * 31 + i + 1);
    hsumma_coll call = {.collective = collective,
                        .in = in,
                        .out = out,
                        .count = count,
                        .algorithm = algorithm,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    status = hsumma_coll_run(ctx, &call);
    status |= hsumma_copy(ctx, coll_arena[IN_OWN][0], in, in_bytes);
    call.in = coll_arena[IN_OWN][0];
    call.out = coll_arena[IN_SHARED][1];
    status |= hsumma_coll_run(ctx, &call);
    status |= hsumma_copy(ctx, back, coll_arena[IN_SHARED][1], out_bytes);
    int counts = collective != HSUMMA_REDUCE || rank == 0;
    int right = !status && (!counts || memcmp(back, out, out_bytes) == 0);
    if (!right)
        printf("# rank %d: %s of %" PRId64 ", other bits than on the host: %s\n", rank, algorithm, count,
               status ? hsumma_message(ctx) : "wrong data");
    free(in);
    free(out);
    free(back);
    return right;
}

static void test_row(const hsumma_algorithm_info *info, const char *options)
{
    static const int64_t counts[] = {0, 1, 7, 257, 8195};
    hsumma_collective collective = info->collective;
    int reduces = collective != HSUMMA_BCAST && collective != HSUMMA_ALLGATHER, wrong = 0, cases = 0;
    int rooted = collective == HSUMMA_BCAST || collective == HSUMMA_REDUCE;
    for (int k = 0; k < (reduces ? COLL_KINDS : 2); k++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int variant = 0; variant < 4; variant++) {
                struct test test = {&coll_kinds[k], info->name, counts[c], 0, variant & 1, 0, IN_SHARED, IN_SHARED};
                if (rooted)
                    test.root = variant < 2 ? (int)(c + (unsigned)k) % size : size - 1;
                else
                    test.irregular = variant >> 1;
                test.in = (cases + rank) % 3 == 0 ? IN_SHARED : IN_OWN;
                test.out = (cases + rank) % 2 == 0 ? IN_SHARED : IN_OWN;
                if (cases % 5 == 4 && !test.in_place && (collective != HSUMMA_REDUCE || rank == test.root))
                    test.in = IN_HOST;
                else if (cases % 5 == 3 && !test.in_place && collective != HSUMMA_BCAST)
                    test.out = IN_HOST;
                if ((variant & 2 && collective == HSUMMA_ALLREDUCE) ||
                    (k > 1 && (counts[c] != 257 || variant != k % 2)))
                    continue;
                cases++;
                wrong += !one(&test, collective);
            }
    if (reduces)
        for (int64_t count = 3001; count < 30000; count += 20000, cases++)
            wrong += !same_bits(collective, info->name, count);
    wrong = (int)world_worst(wrong);
    tap_ok(wrong == 0, "%s %s on %d, %s: %d cases, %d wrong", coll_names[collective], info->name, size, options, cases,
           wrong);
}

static void test_context(const char *options, const char *words)
{
    hsumma_algorithm_info info;
    coll_device_policy(words, "");
    if (!coll_device_open(options))
        return;
    for (int i = 0; hsumma_coll_algorithm(ctx, i, &info); i++)
        test_row(&info, options);
    coll_device_close();
}

int main(int argc, char **argv)
{
    coll_device_start(&argc, &argv);
    test_context("shared=64k segment=4k", "random:1");
    if (size > 1) {
        test_context("shared=0", "lazy");
        test_context("shared=8k direct=off", "noevents,random:2");
    }
    if (size > 2)
        test_context("topology=nodes:2 shared=16k", "lazy");
    int failed = tap_done();
    MPI_Finalize();
    return failed;
}
