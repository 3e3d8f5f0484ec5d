/*
 * Collective calls on device memory: every row, all kinds of elements and operators, counts from none to more than
 * there is room for, roots, in place, irregular parts, memory that peers have mapped and memory that they have not,
 * real and virtual nodes.  Results are compared with ones computed without the library, and with the same call on host
 * memory. mpi_coll_device          the matrix mpi_coll_device mixed    memory of different kinds, many calls at once,
 * failures
 */
#include "coll_data.h"
#include "hsumma/context.h"
#include "quiet.h"
#include "tap.h"
#include "test_device.h"

#include <inttypes.h>
#include <unistd.h>

static int rank, size;
static hsumma_context *ctx;
static int64_t combined; /* elements that the user's operator has seen */

/* Where a buffer lies: in memory of the host, in what hsumma_malloc has given, in other device memory. */
enum where { HOST, SHARED, OWN, WHERES };
static const char *const wheres[] = {"host", "shared", "own"};
enum { ARENA = 1 << 20 };
static char *arena[WHERES][2]; /* for in and out */

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
    struct buffer buffer = {arena[where][which], bytes, (bytes + 2 * COLL_GUARD + unit + 15) / 16 * 16};
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
    if (test->in == HOST && !in_out) { /* the caller may write to it again */
        memset(in.at, 0, given->bytes);
        memcpy(in.at, given->data, given->bytes);
    }
    int there = status || test->out != HOST || memcmp(out.at, wanted->data, wanted->bytes) == 0;
    int right = !status && there && check(&out, unit, wanted->data, wanted->bytes) &&
                check(&in, unit, given->data, given->bytes);
    if (!right)
        printf("# rank %d: %s %s, collective %d of %" PRId64 ", root %d%s%s, %s %s: %s\n", rank, test->algorithm,
               test->kind->name, collective, test->count, test->root, test->in_place ? ", in place" : "",
               test->irregular ? ", irregular" : "", wheres[test->in], wheres[test->out],
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
    status |= hsumma_copy(ctx, arena[OWN][0], in, in_bytes);
    call.in = arena[OWN][0];
    call.out = arena[SHARED][1];
    status |= hsumma_coll_run(ctx, &call);
    status |= hsumma_copy(ctx, back, arena[SHARED][1], out_bytes);
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

static const char *const names[] = {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter"};

static void test_row(const hsumma_algorithm_info *info, const char *options)
{
    static const int64_t counts[] = {0, 1, 7, 257, 8195};
    hsumma_collective collective = info->collective;
    int reduces = collective != HSUMMA_BCAST && collective != HSUMMA_ALLGATHER, wrong = 0, cases = 0;
    int rooted = collective == HSUMMA_BCAST || collective == HSUMMA_REDUCE;
    for (int k = 0; k < (reduces ? COLL_KINDS : 2); k++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int variant = 0; variant < 4; variant++) {
                struct test test = {&coll_kinds[k], info->name, counts[c], 0, variant & 1, 0, SHARED, SHARED};
                if (rooted)
                    test.root = variant < 2 ? (int)(c + (unsigned)k) % size : size - 1;
                else
                    test.irregular = variant >> 1;
                test.in = (cases + rank) % 3 == 0 ? SHARED : OWN;
                test.out = (cases + rank) % 2 == 0 ? SHARED : OWN;
                if (cases % 5 == 4 && !test.in_place && (collective != HSUMMA_REDUCE || rank == test.root))
                    test.in = HOST;
                else if (cases % 5 == 3 && !test.in_place && collective != HSUMMA_BCAST)
                    test.out = HOST;
                if ((variant & 2 && collective == HSUMMA_ALLREDUCE) ||
                    (k > 1 && (counts[c] != 257 || variant != k % 2)))
                    continue;
                cases++;
                wrong += !one(&test, collective);
            }
    if (reduces)
        for (int64_t count = 3001; count < 30000; count += 20000, cases++)
            wrong += !same_bits(collective, info->name, count);
    wrong = (int)quiet_worst(wrong);
    tap_ok(wrong == 0, "%s %s on %d, %s: %d cases, %d wrong", names[collective], info->name, size, options, cases,
           wrong);
}

static int open_context(const char *options)
{
    char text[400] = "";
    char words[160];
    on_test_device(words, sizeof words, options);
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, words, &ctx, text, sizeof text);
    if (!tap_ok(quiet_worst(status) == 0, "a context with \"%s\" %s", options, text))
        return 0;
    for (int which = 0; which < 2; which++) {
        void *memory[2] = {NULL, NULL};
        arena[HOST][which] = malloc(ARENA);
        status |= hsumma_malloc(ctx, ARENA, &memory[0]);
        status |= ctx->device->kind->get(ctx->device, ARENA, &memory[1]);
        arena[SHARED][which] = memory[0];
        arena[OWN][which] = memory[1];
    }
    if (status)
        printf("# rank %d: %d %s; %s\n", rank, (int)status, hsumma_message(ctx), ctx->device->message.text);
    return tap_ok(quiet_worst(status) == 0, "memory in it");
}

static void close_context(void)
{
    for (int which = 0; which < 2; which++) {
        free(arena[HOST][which]);
        hsumma_mfree(ctx, arena[SHARED][which]);
        ctx->device->kind->put(ctx->device, arena[OWN][which]);
    }
    hsumma_free(&ctx);
}

static void test_context(const char *options)
{
    hsumma_algorithm_info info;
    if (!open_context(options))
        return;
    for (int i = 0; hsumma_coll_algorithm(ctx, i, &info); i++)
        test_row(&info, options);
    close_context();
}

/* The work of one call among many, whose results are looked at when all have been started. */
struct one_of_many {
    hsumma_coll call;
    hsumma_request *request;
    int64_t elements;
    int number;
};
enum { MANY = 24, MOST_ELEMENTS = 3000 };

static double value_of(int number, int r, int64_t i)
{
    return (double)((number * 7 + r * 3 + i) % 17);
}

static double wanted_of(const struct one_of_many *one, int64_t i)
{
    int64_t each = one->elements;
    double sum = 0;
    if (one->call.collective == HSUMMA_BCAST)
        return value_of(one->number, one->call.root, i);
    if (one->call.collective == HSUMMA_ALLGATHER)
        return value_of(one->number, (int)(i / each), i % each);
    for (int r = 0; r < size; r++)
        sum += value_of(one->number, r, one->call.collective == HSUMMA_REDUCE_SCATTER ? rank * each + i : i);
    return sum;
}

/*
 * Calls one upon another, from the same memory: what one reads is overwritten behind it, by work on the stream, and its
 * result is copied away behind it.  Nobody waits in between.
 */
static int many_calls(int started)
{
    const struct hs_device_kind *kind = ctx->device->kind;
    struct one_of_many one[MANY];
    hsumma_algorithm_info info;
    void *pinned = NULL;
    int rows = 0, wrong = 0;
    hsumma_status status = kind->get_pinned(ctx->device, (size_t)2 * MANY * MOST_ELEMENTS * sizeof(double), &pinned);
    double *data = pinned;
    while (hsumma_coll_algorithm(ctx, rows, &info))
        rows++;
    for (int n = 0; n < MANY && !status; n++) {
        double *from = data + 2 * n * MOST_ELEMENTS, *to = from + MOST_ELEMENTS;
        hsumma_coll_algorithm(ctx, (n * 5 + 3) % rows, &info);
        int parted = info.collective == HSUMMA_ALLGATHER || info.collective == HSUMMA_REDUCE_SCATTER;
        int64_t each = (n * 211 % MOST_ELEMENTS + 1) / (parted ? size : 1) + 1;
        int64_t ins = info.collective == HSUMMA_REDUCE_SCATTER ? each * size : each;
        int64_t outs = info.collective == HSUMMA_ALLGATHER ? each * size : each;
        enum where where = n % 3 ? SHARED : OWN;
        char *in = arena[where][0], *out = started ? arena[where][1] + n * 32768 : arena[where][1];
        one[n] = (struct one_of_many){.elements = each, .number = n};
        one[n].call = (hsumma_coll){.collective = info.collective,
                                    .in = started ? in + n * 32768 : in,
                                    .out = out,
                                    .count = each,
                                    .size = sizeof(double),
                                    .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE},
                                    .root = n % size,
                                    .algorithm = info.name};
        char *source = info.collective == HSUMMA_BCAST ? out : (char *)(uintptr_t)one[n].call.in;
        for (int64_t i = 0; i < ins; i++)
            from[i] = value_of(n, rank, i);
        if (info.collective != HSUMMA_BCAST || rank == n % size)
            status |= kind->copy(ctx->device, ctx->stream, source, from, (size_t)ins * sizeof(double));
        status |= started ? hsumma_coll_start(ctx, &one[n].call, &one[n].request) : hsumma_coll_run(ctx, &one[n].call);
        if (!started && !status)
            status |= kind->copy(ctx->device, ctx->stream, to, out, (size_t)outs * sizeof(double));
    }
    for (int n = MANY - 1; n >= 0 && started && !status; n--)
        status |= hsumma_coll_wait(&one[n].request);
    status |= hsumma_synchronize(ctx);
    for (int n = 0; n < MANY && !status; n++) {
        double *to = data + (2 * n + 1) * MOST_ELEMENTS;
        int64_t outs = one[n].elements * (one[n].call.collective == HSUMMA_ALLGATHER ? size : 1);
        int there = one[n].call.collective != HSUMMA_REDUCE || rank == one[n].call.root, bad = 0;
        if (started)
            status |= hsumma_copy(ctx, to, one[n].call.out, (size_t)outs * sizeof(double));
        for (int64_t i = 0; i < outs && there; i++)
            bad |= to[i] != wanted_of(&one[n], i);
        if (bad)
            printf("# rank %d: call %d, %s %s of %" PRId64 ": wrong data\n", rank, n, names[one[n].call.collective],
                   one[n].call.algorithm, one[n].elements);
        wrong += bad;
    }
    if (status)
        printf("# rank %d: %s\n", rank, hsumma_message(ctx));
    kind->put_pinned(ctx->device, pinned);
    return !status && !wrong;
}

/* A root that waits for nobody, and others whose devices are late: each slot of the ring is used several times. */
static int late_readers(void)
{
    enum { CALLS = 4 * HS_RING, EACH = 500 };
    const struct hs_device_kind *kind = ctx->device->kind;
    void *pinned = NULL;
    int wrong = 0;
    hsumma_status status = kind->get_pinned(ctx->device, CALLS * EACH * sizeof(double), &pinned);
    double *data = pinned;
    for (int n = 0; n < CALLS && !status; n++) {
        double *from = data + n * EACH;
        hsumma_coll call = {.collective = HSUMMA_BCAST,
                            .out = arena[OWN][1] + (size_t)n * EACH * sizeof(double),
                            .count = EACH * (int64_t)sizeof(double),
                            .algorithm = "shared"};
        for (int i = 0; i < EACH; i++)
            from[i] = rank == 0 ? value_of(n, 0, i) : -1;
        status |= kind->copy(ctx->device, ctx->stream, call.out, from, EACH * sizeof(double));
        status |= hsumma_coll_run(ctx, &call);
    }
    if (rank > 0)
        usleep(10000);
    status |= hsumma_copy(ctx, data, arena[OWN][1], CALLS * EACH * sizeof(double));
    for (int i = 0; i < CALLS * EACH && !status; i++)
        wrong |= data[i] != value_of(i / EACH, 0, i % EACH);
    kind->put_pinned(ctx->device, pinned);
    return !status && !wrong;
}

/* Long sums under way together, of memory that peers have not mapped: one stand-in after the other. */
static int long_together(void)
{
    enum { CALLS = 4, EACH = 80000 };
    const struct hs_device_kind *kind = ctx->device->kind;
    hsumma_request *request[CALLS];
    double *data = malloc(EACH * sizeof *data);
    void *memory[CALLS] = {NULL};
    int wrong = 0;
    hsumma_status status = HSUMMA_OK;
    for (int n = 0; n < CALLS && !status; n++) {
        status = kind->get(ctx->device, 2 * EACH * sizeof *data, &memory[n]);
        for (int i = 0; i < EACH; i++)
            data[i] = value_of(n, rank, i);
        status |= hsumma_copy(ctx, memory[n], data, EACH * sizeof *data);
    }
    for (int n = 0; n < CALLS && !status; n++) {
        const hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                                  .in = memory[n],
                                  .out = (double *)memory[n] + EACH,
                                  .count = EACH,
                                  .algorithm = "shared",
                                  .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
        status = hsumma_coll_start(ctx, &call, &request[n]);
    }
    for (int n = 0; n < CALLS && !status; n++)
        status |= hsumma_coll_wait(&request[n]);
    for (int n = 0; n < CALLS && !status; n++) {
        const struct one_of_many one = {.call = {.collective = HSUMMA_ALLREDUCE}, .number = n, .elements = EACH};
        status |= hsumma_copy(ctx, data, (double *)memory[n] + EACH, EACH * sizeof *data);
        for (int i = 0; i < EACH; i++)
            wrong |= data[i] != wanted_of(&one, i);
    }
    for (int n = 0; n < CALLS; n++)
        kind->put(ctx->device, memory[n]);
    free(data);
    return !status && !wrong;
}

/* Short sums, to which processes come at different times. */
static int short_sums(void)
{
    enum { CALLS = 60, EACH = 64 };
    double in[EACH], out[EACH];
    int wrong = 0;
    hsumma_status status = HSUMMA_OK;
    for (int n = 0; n < CALLS && !status; n++) {
        const struct one_of_many one = {.call = {.collective = HSUMMA_ALLREDUCE}, .number = n, .elements = EACH};
        const hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                                  .in = arena[OWN][0],
                                  .out = arena[OWN][1],
                                  .count = EACH,
                                  .algorithm = "shared",
                                  .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
        for (int i = 0; i < EACH; i++)
            in[i] = value_of(n, rank, i);
        status = hsumma_copy(ctx, arena[OWN][0], in, sizeof in);
        usleep((unsigned)((n * 7 + rank * 5) % 4) * 300);
        status |= hsumma_coll_run(ctx, &call);
        status |= hsumma_copy(ctx, out, arena[OWN][1], sizeof out);
        for (int i = 0; i < EACH; i++)
            wrong |= out[i] != wanted_of(&one, i);
    }
    return !status && !wrong;
}

static void test_order(void)
{
    char before[200];
    snprintf(before, sizeof before, "%s", getenv("HSUMMA_HOST_DEVICE") ? getenv("HSUMMA_HOST_DEVICE") : "");
    setenv("HSUMMA_HOST_DEVICE", "lazy,hold=50000", 1);
    if (open_context("shared=16k")) {
        tap_ok(quiet_worst(!late_readers()) == 0, "a slot is written again when all have read it");
        tap_ok(quiet_worst(!long_together()) == 0, "stand-ins that peers read are for one call at a time");
        tap_ok(quiet_worst(!short_sums()) == 0, "a sum goes on with what is there");
        close_context();
    }
    setenv("HSUMMA_HOST_DEVICE", before, 1);
}

static void test_many(const char *options)
{
    if (!open_context(options))
        return;
    for (int turn = 0; turn < 2; turn++) {
        tap_ok(quiet_worst(!many_calls(0)) == 0, "%d calls one upon another, %s", MANY, options);
        tap_ok(quiet_worst(!many_calls(1)) == 0, "%d calls under way together, %s", MANY, options);
    }
    close_context();
}

/* Vectors of many pieces. */
static void test_long(const char *options, const char *algorithm, hsumma_collective collective)
{
    const int64_t count = (5 << 20) + 3;
    void *memory[2] = {NULL, NULL};
    unsigned char *image = malloc((size_t)count);
    int wrong = 0;
    char words[160];
    on_test_device(words, sizeof words, options);
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, words, &ctx, NULL, 0);
    for (int i = 0; i < 2 && !status; i++)
        status = ctx->device->kind->get(ctx->device, (size_t)count, &memory[i]);
    for (int64_t i = 0; i < count; i++)
        image[i] = (unsigned char)((i * 31 + rank) % 101);
    int64_t ints = count / 4 * 4;
    if (collective != HSUMMA_BCAST)
        for (int64_t i = 0; i < ints / 4; i++) {
            int32_t number = (int32_t)(i * 31 + rank);
            memcpy(image + 4 * i, &number, sizeof number);
        }
    status |= hsumma_copy(ctx, memory[0], image, (size_t)count);
    hsumma_coll call = {.collective = collective,
                        .in = memory[0],
                        .out = collective == HSUMMA_BCAST ? memory[0] : memory[1],
                        .count = collective == HSUMMA_BCAST ? count : ints / 4,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_INT32},
                        .algorithm = algorithm};
    status |= hsumma_coll_run(ctx, &call);
    status |= hsumma_copy(ctx, image, call.out, (size_t)ints);
    for (int64_t i = 0; i < count && collective == HSUMMA_BCAST && i < ints; i++)
        wrong |= image[i] != (i * 31) % 101;
    for (int64_t i = 0; i < ints / 4 && collective != HSUMMA_BCAST; i++) {
        int32_t number;
        memcpy(&number, image + 4 * i, sizeof number);
        wrong |= number != (int32_t)(i * 31 * size + size * (size - 1) / 2);
    }
    if (status)
        printf("# rank %d: %s\n", rank, hsumma_message(ctx));
    tap_ok(quiet_worst(wrong || status) == 0, "%s %s of %" PRId64 " bytes, %s", names[collective], algorithm, count,
           options);
    for (int i = 0; i < 2; i++)
        ctx->device->kind->put(ctx->device, memory[i]);
    free(image);
    hsumma_free(&ctx);
}

/* What is wrong with the memory of one process is told to all, and nothing has happened. */
static void test_mixed(void)
{
    if (!open_context(""))
        return;
    enum where where = rank == size - 1 ? HOST : OWN;
    hsumma_status status = hsumma_allreduce(ctx, arena[where][0], arena[where][1], 10, HSUMMA_DOUBLE, HSUMMA_SUM);
    int told = strstr(hsumma_message(ctx), "memory of different kinds") != NULL;
    tap_ok(quiet_worst(status != HSUMMA_ERR_ARGUMENT || !told) == 0, "memory of different kinds: %s",
           hsumma_message(ctx));
    status = hsumma_allreduce(ctx, arena[OWN][0], rank ? arena[SHARED][1] : NULL, 11, HSUMMA_DOUBLE, HSUMMA_SUM);
    tap_ok(quiet_worst(status != HSUMMA_ERR_ARGUMENT) == 0, "no memory on one process: %s", hsumma_message(ctx));
    status = hsumma_allreduce(ctx, arena[OWN][0], arena[SHARED][1], 10, HSUMMA_INT32, HSUMMA_SUM);
    tap_ok(quiet_worst(status) == 0, "then all is well again");
    close_context();
}

/* Whether the description of a call has these words in it (1), or has not (0). */
static int says(const hsumma_coll *call, const char *words, int wanted)
{
    char text[1000] = "";
    hsumma_status status = hsumma_coll_describe(ctx, call, text, sizeof text);
    int right = !status && (strstr(text, words) != NULL) == wanted;
    if (!right)
        printf("# rank %d: \"%s\" %s \"%s\"\n", rank, text, wanted ? "does not say" : "says", words);
    return right;
}

static void test_descriptions(void)
{
    if (!open_context(""))
        return;
    hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                        .in = arena[OWN][0],
                        .out = arena[OWN][1],
                        .count = 1000,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    int right = says(&call, "in device memory", 1);
    call.algorithm = "mpi";
    right &= says(&call, "through memory of the host: MPI does it", 1);
    call.algorithm = NULL;
    call.op = (hsumma_operator){HSUMMA_USER, HSUMMA_FLOAT, coll_product, &combined, 16, 0};
    right &= says(&call, "through memory of the host: the operator is the caller's", 1);
    call.in = call.out = arena[HOST][0];
    right &= says(&call, "memory", 0);
    tap_ok(quiet_worst(!right) == 0, "descriptions say who does the work");
    close_context();
}

static void test_no_ipc(void)
{
    char policy[240];
    char before[200];
    snprintf(before, sizeof before, "%s", getenv("HSUMMA_HOST_DEVICE") ? getenv("HSUMMA_HOST_DEVICE") : "");
    snprintf(policy, sizeof policy, "%s%snoipc", before, *before ? "," : "");
    setenv("HSUMMA_HOST_DEVICE", policy, 1);
    if (!open_context("")) {
        setenv("HSUMMA_HOST_DEVICE", before, 1);
        return;
    }
    const hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                              .in = arena[OWN][0],
                              .out = arena[OWN][1],
                              .count = 1000,
                              .algorithm = "shared",
                              .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    int right =
        strstr(ctx->note, "device memory is not shared") != NULL && says(&call, "through memory of the host", 1);
    tap_ok(quiet_worst(!right) == 0, "memory that cannot be shared is told: %s", ctx->note);
    tap_ok(quiet_worst(!many_calls(0)) == 0, "and calls go through the host's");
    close_context();
    setenv("HSUMMA_HOST_DEVICE", before, 1);
}

/* The device of one process fails at its n-th piece of work: all processes get to know, and can let go. */
static void test_failure(const char *options, const char *algorithm, hsumma_collective collective, int piece)
{
    char policy[240], text[40];
    char before[200];
    snprintf(before, sizeof before, "%s", getenv("HSUMMA_HOST_DEVICE") ? getenv("HSUMMA_HOST_DEVICE") : "");
    int sick = size - 1;
    snprintf(policy, sizeof policy, "%s%sfail=%d", before, *before ? "," : "", piece);
    snprintf(text, sizeof text, "process %d: ", sick);
    if (rank == sick)
        setenv("HSUMMA_HOST_DEVICE", policy, 1);
    char words[160];
    on_test_device(words, sizeof words, options);
    hsumma_status status = hsumma_create(MPI_COMM_WORLD, words, &ctx, NULL, 0);
    setenv("HSUMMA_HOST_DEVICE", before, 1);
    void *memory[2] = {NULL, NULL};
    for (int i = 0; i < 2 && !status; i++)
        status = hsumma_malloc(ctx, 40000, &memory[i]);
    hsumma_coll call = {.collective = collective,
                        .in = memory[0],
                        .out = memory[1],
                        .count = collective == HSUMMA_BCAST ? 40000 : 5000,
                        .algorithm = algorithm,
                        .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    int calls = 0;
    while (!status && calls++ < 100)
        status = hsumma_coll_run(ctx, &call);
    int right = status == HSUMMA_ERR_DEVICE && strstr(hsumma_message(ctx), text) != NULL;
    if (!right)
        printf("# rank %d: %d after %d calls: %s\n", rank, (int)status, calls, hsumma_message(ctx));
    tap_ok(quiet_worst(!right) == 0, "a device fails at piece %d of %s %s, %s: %s", piece, names[collective], algorithm,
           options, hsumma_message(ctx));
    status = hsumma_coll_run(ctx, &call);
    tap_ok(quiet_worst(status != HSUMMA_ERR_DEVICE) == 0, "and nothing more is begun: %s", hsumma_message(ctx));
    hsumma_free(&ctx);
}

static void test_rest(void)
{
    test_many("shared=16k");
    test_many("shared=0 gpu_aware_mpi=1");
    if (size > 2)
        test_many("shared=16k topology=nodes:2");
    test_descriptions();
    if (size == 1)
        return;
    test_long("shared=0", "ring", HSUMMA_ALLREDUCE);
    test_long("shared=0", "binomial", HSUMMA_BCAST);
    test_long("shared=0 gpu_aware_mpi=1", "rabenseifner_traff", HSUMMA_ALLREDUCE);
    test_long("shared=64k", "shared", HSUMMA_ALLREDUCE);
    test_long("shared=64k direct=off", "shared", HSUMMA_ALLREDUCE);
    test_long("shared=64k", "shared", HSUMMA_BCAST);
    test_order();
    test_mixed();
    test_no_ipc();
    for (int piece = 1; piece < 40; piece += 13) {
        test_failure("", "shared", HSUMMA_ALLREDUCE, piece);
        test_failure("shared=0", "ring", HSUMMA_ALLREDUCE, piece);
        test_failure("", "mpi", HSUMMA_ALLREDUCE, piece);
        test_failure("", "binomial", HSUMMA_BCAST, piece);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tap_begin(rank == 0);
    if (argc > 1 && strcmp(argv[1], "mixed") == 0) {
        test_rest();
    } else {
        test_context("shared=64k segment=4k");
        if (size > 1) {
            test_context("shared=0");
            test_context("shared=8k direct=off");
        }
        if (size > 2)
            test_context("topology=nodes:2 shared=16k");
    }
    int failed = tap_done();
    MPI_Finalize();
    return failed;
}
