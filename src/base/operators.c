#include "base/operators.h"

#include <string.h>

/*
 * Blocks of UNROLLED elements are copied to local arrays, because dst may be left or right: the compiler vectorizes at
 * -O2 only if it knows that nothing overlaps.  The maximum or minimum of a NaN and a number is the right operand, since
 * both comparisons are then false.
 */
enum { UNROLLED = 16 };
#define PLUS(l, r) ((l) + (r))
#define LARGER(l, r) ((l) > (r) ? (l) : (r))
#define SMALLER(l, r) ((l) < (r) ? (l) : (r))

#define OPERATOR(linkage, name, type, op)                                                         \
    linkage void name(void *dst, const void *left, const void *right, int64_t bytes, void *state) \
    {                                                                                             \
        int64_t count = bytes / (int64_t)sizeof(type), i = 0;                                     \
        type *d = dst;                                                                            \
        const type *l = left, *r = right;                                                         \
        (void)state;                                                                              \
        for (; i + UNROLLED <= count; i += UNROLLED) {                                            \
            type x[UNROLLED], y[UNROLLED];                                                        \
            memcpy(x, l + i, sizeof x);                                                           \
            memcpy(y, r + i, sizeof y);                                                           \
            for (int j = 0; j < UNROLLED; j++)                                                    \
                x[j] = op(x[j], y[j]);                                                            \
            memcpy(d + i, x, sizeof x);                                                           \
        }                                                                                         \
        for (; i < count; i++)                                                                    \
            d[i] = op(l[i], r[i]);                                                                \
    }

OPERATOR(, hs_sum_float, float, PLUS)
OPERATOR(static, max_float, float, LARGER)
OPERATOR(static, min_float, float, SMALLER)
OPERATOR(, hs_sum_double, double, PLUS)
OPERATOR(static, max_double, double, LARGER)
OPERATOR(static, min_double, double, SMALLER)
OPERATOR(static, sum_uint32, uint32_t, PLUS) /* sums signed integers too: unsigned ones wrap on overflow */
OPERATOR(static, max_int32, int32_t, LARGER)
OPERATOR(static, min_int32, int32_t, SMALLER)
OPERATOR(static, sum_uint64, uint64_t, PLUS)
OPERATOR(static, max_int64, int64_t, LARGER)
OPERATOR(static, min_int64, int64_t, SMALLER)

/* A complex sum is a sum of pairs of reals. */
static const struct element_row {
    const char *name;
    size_t size;
    hs_combine *op[HS_OPS];
} table[HS_ELEMENTS] = {
    [HSUMMA_FLOAT] = {"float", 4, {hs_sum_float, max_float, min_float}},
    [HSUMMA_DOUBLE] = {"double", 8, {hs_sum_double, max_double, min_double}},
    [HSUMMA_FLOAT_COMPLEX] = {"float complex", 8, {hs_sum_float, NULL, NULL}},
    [HSUMMA_DOUBLE_COMPLEX] = {"double complex", 16, {hs_sum_double, NULL, NULL}},
    [HSUMMA_INT32] = {"int32", 4, {sum_uint32, max_int32, min_int32}},
    [HSUMMA_INT64] = {"int64", 8, {sum_uint64, max_int64, min_int64}},
};

size_t hs_element_size(hsumma_element element)
{
    return (unsigned)element < HS_ELEMENTS ? table[element].size : 0;
}

const char *hs_element_name(hsumma_element element)
{
    return (unsigned)element < HS_ELEMENTS ? table[element].name : "unknown element";
}

const char *hs_op_name(hsumma_op op)
{
    static const char *const names[] = {"sum", "max", "min", "user"};
    return (unsigned)op <= HSUMMA_USER ? names[op] : "unknown operator";
}

hs_combine *hs_operator_of(hsumma_element element, hsumma_op op)
{
    return (unsigned)element < HS_ELEMENTS && (unsigned)op < HS_OPS ? table[element].op[op] : NULL;
}
