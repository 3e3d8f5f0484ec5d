#include "support/coll/data.h"

#include "support/tap.h"
#include "support/world.h"

#include <complex.h>
#include <inttypes.h>

void coll_sum_of_doubles(void *dst, const void *left, const void *right, int64_t count, void *state)
{
    (void)state;
    for (int64_t i = 0; i < count; i++)
        ((double *)dst)[i] = ((const double *)left)[i] + ((const double *)right)[i];
}

void coll_product(void *dst, const void *left, const void *right, int64_t count, void *state)
{
    const uint32_t *l = left, *r = right;
    *(int64_t *)state += count;
    for (int64_t i = 0; i < count; i++) {
        uint32_t p[4];
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                p[2 * a + b] = l[4 * i + 2 * a] * r[4 * i + b] + l[4 * i + 2 * a + 1] * r[4 * i + 2 + b];
        memcpy((uint32_t *)dst + 4 * i, p, sizeof p);
    }
}

const struct coll_kind coll_kinds[COLL_KINDS] = {
    {"sum of doubles", HSUMMA_SUM, HSUMMA_DOUBLE, 8},
    {"product of matrices", HSUMMA_USER, HSUMMA_FLOAT, 16},
    {"sum of floats", HSUMMA_SUM, HSUMMA_FLOAT, 4},
    {"max of doubles", HSUMMA_MAX, HSUMMA_DOUBLE, 8},
    {"min of floats", HSUMMA_MIN, HSUMMA_FLOAT, 4},
    {"sum of complex doubles", HSUMMA_SUM, HSUMMA_DOUBLE_COMPLEX, 16},
    {"sum of complex floats", HSUMMA_SUM, HSUMMA_FLOAT_COMPLEX, 8},
    {"min of int32", HSUMMA_MIN, HSUMMA_INT32, 4},
    {"sum of int64", HSUMMA_SUM, HSUMMA_INT64, 8},
    {"max of int64", HSUMMA_MAX, HSUMMA_INT64, 8},
};

/* Writes element i of rank `from`. Its parts are integers whose sums are exact in any order. */
static void coll_element(const struct coll_kind *kind, int from, int64_t i, void *to)
{
    int64_t v = (from * 7 + i * 5 + from * i) % 13 - 6;
    uint32_t m[4] = {(uint32_t)v, (uint32_t)from + 2, (uint32_t)(i % 3), (uint32_t)(v * v + 1)};
    if (kind->op == HSUMMA_USER)
        memcpy(to, m, sizeof m);
    else if (kind->element == HSUMMA_FLOAT)
        *(float *)to = (float)v;
    else if (kind->element == HSUMMA_DOUBLE)
        *(double *)to = (double)v;
    else if (kind->element == HSUMMA_FLOAT_COMPLEX)
        *(float _Complex *)to = (float)v + (float)from * I;
    else if (kind->element == HSUMMA_DOUBLE_COMPLEX)
        *(double _Complex *)to = (double)v + (double)from * I;
    else if (kind->element == HSUMMA_INT32)
        *(int32_t *)to = (int32_t)v;
    else
        *(int64_t *)to = v + ((int64_t)from << 40);
}

#define COLL_FOLD(type)                                                                          \
    do {                                                                                         \
        type *a = sum;                                                                           \
        const type *b = value;                                                                   \
        *a = kind->op == HSUMMA_SUM ? *a + *b : (kind->op == HSUMMA_MAX) == (*b > *a) ? *b : *a; \
    } while (0)

/* Combines: sum = sum op value. */
static void coll_fold(const struct coll_kind *kind, void *sum, const void *value)
{
    int64_t calls = 0;
    if (kind->op == HSUMMA_USER)
        coll_product(sum, sum, value, 1, &calls);
    else if (kind->element == HSUMMA_FLOAT)
        COLL_FOLD(float);
    else if (kind->element == HSUMMA_DOUBLE)
        COLL_FOLD(double);
    else if (kind->element == HSUMMA_FLOAT_COMPLEX)
        *(float _Complex *)sum += *(const float _Complex *)value;
    else if (kind->element == HSUMMA_DOUBLE_COMPLEX)
        *(double _Complex *)sum += *(const double _Complex *)value;
    else if (kind->element == HSUMMA_INT32)
        COLL_FOLD(int32_t);
    else
        COLL_FOLD(int64_t);
}

static void coll_fill(const struct coll_kind *kind, int from, int64_t first, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++)
        coll_element(kind, from, first + i, (char *)to + (size_t)i * kind->size);
}

/* Computes `count` elements, from index `first` on, of the reduction over all ranks. */
static void coll_result(const struct coll_kind *kind, int64_t first, int64_t count, void *to)
{
    _Alignas(16) char value[COLL_ELEMENT];
    for (int64_t i = 0; i < count; i++) {
        char *sum = (char *)to + (size_t)i * kind->size;
        coll_element(kind, 0, first + i, sum);
        for (int r = 1; r < size; r++) {
            coll_element(kind, r, first + i, value);
            coll_fold(kind, sum, value);
        }
    }
}

struct coll_buffer coll_buffer(size_t bytes)
{
    struct coll_buffer buffer = {malloc(bytes + 2 * COLL_GUARD), NULL, bytes};
    memset(buffer.memory, 0xA5, bytes + 2 * COLL_GUARD);
    buffer.data = buffer.memory + COLL_GUARD;
    return buffer;
}

int coll_buffer_end(struct coll_buffer *buffer)
{
    int whole = 1;
    for (int i = 0; i < COLL_GUARD; i++)
        whole &= buffer->memory[i] == 0xA5 && buffer->data[buffer->bytes + (size_t)i] == 0xA5;
    free(buffer->memory);
    return whole;
}

int64_t combined;

const char *const coll_names[] = {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter"};

static int64_t part_of(const struct matrix_case *test, int r)
{
    return !test->irregular ? test->count : r % 3 == 1 ? 0 : test->count + r;
}

static int64_t before(const struct matrix_case *test, int r)
{
    int64_t sum = 0;
    for (int i = 0; i < r; i++)
        sum += part_of(test, i);
    return sum;
}

hsumma_coll matrix_case_call(const struct matrix_case *test, void *in, void *out)
{
    static int64_t counts[64];
    const struct coll_kind *kind = test->kind;
    for (int r = 0; r < size; r++)
        counts[r] = part_of(test, r);
    return (hsumma_coll){.collective = test->collective,
                         .in = test->in_out ? test->count % 2 ? NULL : out : in,
                         .out = out,
                         .count = test->count,
                         .counts = test->irregular ? counts : NULL,
                         .size = kind->size,
                         .root = test->root,
                         .algorithm = test->algorithm,
                         .op = {kind->op, kind->element, coll_product, &combined, kind->size, 0}};
}

void matrix_case_tell(const struct matrix_case *test, const char *where, const char *what)
{
    printf("# rank %d: %s %s, %s of %" PRId64 ", root %d%s%s%s: %s\n", rank, test->algorithm, test->kind->name,
           coll_names[test->collective], test->count, test->root, test->in_place ? ", in place" : "",
           test->irregular ? ", irregular" : "", where, what);
}

/* Prepares this rank's input and its expected output. */
static void prepare(struct matrix_case *test)
{
    const struct coll_kind *kind = test->kind;
    hsumma_collective collective = test->collective;
    size_t unit = kind->size;
    int parted = collective == HSUMMA_ALLGATHER || collective == HSUMMA_REDUCE_SCATTER;
    int64_t all = parted ? before(test, size) : test->count, mine = part_of(test, rank), first = before(test, rank);
    int64_t ins = collective == HSUMMA_ALLGATHER ? mine : all, outs = collective == HSUMMA_REDUCE_SCATTER ? mine : all;
    char *wanted;

    test->given = coll_buffer((size_t)ins * unit);
    test->wanted = coll_buffer((size_t)outs * unit);
    coll_fill(kind, rank, 0, ins, test->given.data);
    wanted = (char *)test->wanted.data;
    if (collective == HSUMMA_BCAST)
        coll_fill(kind, test->root, 0, outs, wanted);
    else if (collective == HSUMMA_ALLGATHER)
        for (int r = 0; r < size; r++)
            coll_fill(kind, r, 0, part_of(test, r), wanted + (size_t)before(test, r) * unit);
    else if (collective == HSUMMA_REDUCE_SCATTER)
        coll_result(kind, first, mine, wanted);
    else if (collective == HSUMMA_ALLREDUCE || rank == test->root)
        coll_result(kind, 0, all, wanted);

    test->place = collective == HSUMMA_ALLGATHER ? (size_t)first * unit : 0;
    test->in_out = test->in_place && collective != HSUMMA_BCAST && (collective != HSUMMA_REDUCE || rank == test->root);
    test->prefilled = test->in_out || (collective == HSUMMA_BCAST && rank == test->root);
    test->out_bytes = test->wanted.bytes;
    if (test->in_out && test->out_bytes < test->place + test->given.bytes)
        test->out_bytes = test->place + test->given.bytes;
}

void matrix_test_row(const hsumma_algorithm_info *info, const char *options, const int64_t *counts,
                     int (*run)(const struct matrix_case *test),
                     int (*more)(const hsumma_algorithm_info *info, int *cases))
{
    hsumma_collective collective = info->collective;
    int reduces = collective != HSUMMA_BCAST && collective != HSUMMA_ALLGATHER, cases = 0, wrong = 0;
    int rooted = collective == HSUMMA_BCAST || collective == HSUMMA_REDUCE;
    for (int k = 0; k < (reduces ? COLL_KINDS : 2); k++)
        for (int c = 0; c < 5; c++)
            for (int variant = 0; variant < 4; variant++) {
                struct matrix_case test = {&coll_kinds[k], info->name, collective, counts[c], .number = cases};
                test.in_place = variant & 1;
                if (rooted)
                    test.root = variant < 2 ? (c + k) % size : size - 1;
                else
                    test.irregular = variant >> 1;
                if ((variant & 2 && collective == HSUMMA_ALLREDUCE) ||
                    (k > 1 && (counts[c] != 257 || variant != k % 2)) ||
                    (info->flags & HSUMMA_EXACT && coll_kinds[k].op == HSUMMA_USER))
                    continue;
                cases++;
                prepare(&test);
                int right = run(&test);
                right &= coll_buffer_end(&test.given);
                right &= coll_buffer_end(&test.wanted);
                wrong += !right;
            }
    wrong = (int)world_worst(wrong + more(info, &cases));
    tap_ok(wrong == 0, "%s %s on %d, %s: %d cases, %d wrong", coll_names[collective], info->name, size, options, cases,
           wrong);
}
