#include "support/coll/data.h"

#include <complex.h>

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

/* Small whole numbers, so that sums are exact in any order. */
static void coll_element(const struct coll_kind *kind, int rank, int64_t i, void *to)
{
    int64_t v = (rank * 7 + i * 5 + rank * i) % 13 - 6;
    uint32_t m[4] = {(uint32_t)v, (uint32_t)rank + 2, (uint32_t)(i % 3), (uint32_t)(v * v + 1)};
    if (kind->op == HSUMMA_USER)
        memcpy(to, m, sizeof m);
    else if (kind->element == HSUMMA_FLOAT)
        *(float *)to = (float)v;
    else if (kind->element == HSUMMA_DOUBLE)
        *(double *)to = (double)v;
    else if (kind->element == HSUMMA_FLOAT_COMPLEX)
        *(float _Complex *)to = (float)v + (float)rank * I;
    else if (kind->element == HSUMMA_DOUBLE_COMPLEX)
        *(double _Complex *)to = (double)v + (double)rank * I;
    else if (kind->element == HSUMMA_INT32)
        *(int32_t *)to = (int32_t)v;
    else
        *(int64_t *)to = v + ((int64_t)rank << 40);
}

#define COLL_FOLD(type)                                                                          \
    do {                                                                                         \
        type *a = sum;                                                                           \
        const type *b = value;                                                                   \
        *a = kind->op == HSUMMA_SUM ? *a + *b : (kind->op == HSUMMA_MAX) == (*b > *a) ? *b : *a; \
    } while (0)

/* sum = sum op value */
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

void coll_fill(const struct coll_kind *kind, int rank, int64_t first, int64_t count, void *to)
{
    for (int64_t i = 0; i < count; i++)
        coll_element(kind, rank, first + i, (char *)to + (size_t)i * kind->size);
}

void coll_result(const struct coll_kind *kind, int size, int64_t first, int64_t count, void *to)
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
