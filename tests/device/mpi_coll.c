/*
 * Collective calls on device memory: every algorithm, all elements and operators, counts from zero to more than fits
 * the buffers, several roots, in place, irregular parts, memory that peers have or have not mapped, real and virtual
 * nodes. Results are compared with results computed without the library, and with those of the same call on host
 * memory.
 */
#include "support/device/coll_device.h"

/* A buffer with guards inside an arena (coll_arena). Its contents are copied by work on the context's stream. */
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

/* Whether the buffer contains `wanted` and the guards are intact. */
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

/* Chooses the memory of a case's buffers: every kind occurs, and ranks differ. */
static void place(const struct matrix_case *test, enum where *in, enum where *out)
{
    int number = test->number;
    *in = (number + rank) % 3 == 0 ? IN_SHARED : IN_OWN;
    *out = (number + rank) % 2 == 0 ? IN_SHARED : IN_OWN;
    if (number % 5 == 4 && !test->in_place && (test->collective != HSUMMA_REDUCE || rank == test->root))
        *in = IN_HOST;
    else if (number % 5 == 3 && !test->in_place && test->collective != HSUMMA_BCAST)
        *out = IN_HOST;
}

static int run(const struct matrix_case *test)
{
    const struct coll_buffer *given = &test->given, *wanted = &test->wanted;
    size_t unit = test->kind->size;
    enum where in_lies, out_lies;
    place(test, &in_lies, &out_lies);
    struct buffer in = take(in_lies, 0, given->bytes, unit, given->data, given->bytes, 0);
    struct buffer out =
        take(out_lies, 1, test->out_bytes, unit, given->data, test->prefilled ? given->bytes : 0, test->place);
    hsumma_coll call = matrix_case_call(test, in.at, out.at);
    hsumma_status status = hsumma_coll_run(ctx, &call);
    if (in_lies == IN_HOST && !test->in_out) { /* after the call returns, the caller may overwrite host memory */
        memset(in.at, 0, given->bytes);
        memcpy(in.at, given->data, given->bytes);
    }
    int there = status || out_lies != IN_HOST || memcmp(out.at, wanted->data, wanted->bytes) == 0;
    int right = !status && there && check(&out, unit, wanted->data, wanted->bytes) &&
                check(&in, unit, given->data, given->bytes);
    if (!right) {
        char where[40];
        snprintf(where, sizeof where, ", %s %s", coll_memory_names[in_lies], coll_memory_names[out_lies]);
        matrix_case_tell(test, where, status ? hsumma_message(ctx) : "wrong data");
    }
    return right;
}

/* Whether inexact sums on devices have the bits of those on host memory. */
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

static int all_same_bits(const hsumma_algorithm_info *info, int *cases)
{
    int wrong = 0, reduces = info->collective != HSUMMA_BCAST && info->collective != HSUMMA_ALLGATHER;
    for (int64_t count = 3001; reduces && count < 30000; count += 20000, ++*cases)
        wrong += !same_bits(info->collective, info->name, count);
    return wrong;
}

static void test_context(const char *options, const char *words)
{
    static const int64_t counts[] = {0, 1, 7, 257, 8195};
    hsumma_algorithm_info info;
    coll_device_policy(words, "");
    if (!coll_device_open(options))
        return;
    for (int i = 0; hsumma_coll_algorithm(ctx, i, &info); i++)
        matrix_test_row(&info, options, counts, run, all_same_bits);
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
    return world_end();
}
