/*
 * Exact sums (base/exact.c) of badly scaled numbers. That a result is rounded to nearest, ties to even, is proved by
 * the signs of two exact sums, which count the bits of all numbers one by one: the sum must lie between the midpoints
 * to the result's neighbours. Without arguments a short form; "all": ten times as many sums.
 */
#include "base/operators.h"
#include "support/random.h"
#include "support/tap.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 40, ELEMENTS = 75, LOWEST = -1200, BITS = 2400 };

/* Adds `times` x to a sum whose bit i has the weight 2^(LOWEST + i). */
static void count(int *bit, long double x, int times)
{
    int exponent;
    x = frexpl(x, &exponent);
    for (; x != 0; exponent--) {
        x *= 2;
        int one = x >= 1 ? 1 : x <= -1 ? -1 : 0;
        x -= one;
        bit[exponent - 1 - LOWEST] += one * times;
    }
}

static int sign_of(const int *bit)
{
    int64_t over = 0;
    int rest = 0;
    for (int i = 0; i < BITS; i++) {
        int64_t all = bit[i] + over;
        over = all >= 0 ? all / 2 : -((1 - all) / 2);
        rest |= all != 2 * over;
    }
    return over < 0 ? -1 : over > 0 || rest;
}

/* One element type: a number of the type, the one after it in a direction, and limits. */
struct type {
    const char *name;
    hsumma_element element;
    int size, least, most, digits; /* exponents of the smallest subnormal number and of the first power beyond all */
};
static const struct type types[] = {{"float", HSUMMA_FLOAT, 4, -149, 128, 24},
                                    {"double", HSUMMA_DOUBLE, 8, -1074, 1024, 53},
                                    {"float complex", HSUMMA_FLOAT_COMPLEX, 4, -149, 128, 24},
                                    {"double complex", HSUMMA_DOUBLE_COMPLEX, 8, -1074, 1024, 53}};

static double get(const struct type *type, const void *at, int64_t i)
{
    return type->size == 4 ? (double)((const float *)at)[i] : ((const double *)at)[i];
}

static void put(const struct type *type, void *at, int64_t i, double x)
{
    if (type->size == 4)
        ((float *)at)[i] = (float)x;
    else
        ((double *)at)[i] = x;
}

/* The neighbour of a result; beyond the largest number 2^most. */
static long double next_to(const struct type *type, double x, int up)
{
    double to = up ? INFINITY : -INFINITY;
    double next = type->size == 4 ? (double)nextafterf((float)x, (float)to) : nextafter(x, to);
    return isinf(next) ? (up ? 1 : -1) * ldexpl(1, type->most) : next;
}

/* 1 if the finite sum of x[0 .. n) rounds to r. */
static int is_rounded(const struct type *type, const double *x, int n, double r)
{
    int bit[2][BITS] = {{0}}, sign[2], even;
    long double at = isinf(r) ? (r > 0 ? 1 : -1) * ldexpl(1, type->most) : r;
    long double exponent = at == 0 ? 0 : fmaxl(ilogbl(at) - type->digits + 1, type->least);
    even = fmodl(ldexpl(fabsl(at), (int)-exponent), 2) == 0;
    for (int up = 0; up < 2; up++) {
        for (int i = 0; i < n; i++)
            count(bit[up], x[i], 2);
        count(bit[up], at, -1);
        /* Beyond infinity there is no neighbour. */
        if (isinf(r) && up == (r > 0))
            count(bit[up], 1, 0);
        else
            count(bit[up],
                  isinf(r) ? (long double)(type->size == 4 ? FLT_MAX : DBL_MAX) * (r > 0 ? 1 : -1)
                           : next_to(type, r, up),
                  -1);
        sign[up] = sign_of(bit[up]);
        if (isinf(r) && up == (r > 0))
            sign[up] = up ? -1 : 1;
    }
    return (sign[0] > 0 || (sign[0] == 0 && even)) && (sign[1] < 0 || (sign[1] == 0 && even)) &&
           !(r == 0 && signbit(r));
}

enum kind { SCALED, CANCEL, TINY, HUGE_ONES, NEAR, TIES, KINDS };
static const char *const kind_names[KINDS] = {"badly scaled", "cancelling", "subnormal",
                                              "overflowing",  "alike",      "tied"};

static double draw_number(const struct type *type, enum kind kind)
{
    double x = 1 + ldexp((double)(draw_bits() >> 12), -52);
    int range = type->most - type->least - 1, exponent = 0;
    if (draw(12) == 0)
        return draw(2) ? 0.0 : -0.0;
    switch (kind) {
    case SCALED:
    case CANCEL:
        exponent = type->least + draw(range);
        break;
    case TINY:
        exponent = type->least + draw(type->digits + 4);
        break;
    case HUGE_ONES:
        exponent = type->most - 1 - draw(4);
        break;
    case NEAR:
        exponent = draw(5);
        break;
    case TIES: /* powers of two around the last bit of the largest */
        x = 1;
        exponent = draw(3) ? -type->digits + 2 - draw(4) : 1 - draw(2);
        break;
    case KINDS:
        break;
    }
    x = ldexp(draw(2) ? x : -x, exponent);
    return type->size == 4 ? (double)(float)(fabs(x) > FLT_MAX ? (x > 0 ? FLT_MAX : -FLT_MAX) : x) : x;
}

/* Draws x[0 .. n); in half of a cancelling sum's cases all but two numbers are negatives of others. */
static void draw_numbers(const struct type *type, enum kind kind, double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = draw_number(type, kind);
    for (int i = 0; kind == CANCEL && 2 * i + 1 < n - draw(2); i++)
        x[2 * i] = -x[2 * i + 1];
    for (int i = n - 1; i > 0; i--) {
        int j = draw(i + 1);
        double swap = x[i];
        x[i] = x[j];
        x[j] = swap;
    }
}

/* Sums of `n` vectors of ELEMENTS numbers; *diverse counts results that are neither zero nor infinite. */
static int sums_right(const struct type *type, enum kind kind, int n, int *diverse)
{
    static double vectors[MOST * ELEMENTS], x[ELEMENTS][MOST], result[ELEMENTS], again[ELEMENTS];
    int elements = 1 + draw(ELEMENTS), bytes;
    elements += elements % 2 && type->element >= HSUMMA_FLOAT_COMPLEX && elements < ELEMENTS;
    bytes = elements * type->size;
    for (int i = 0; i < elements; i++) {
        draw_numbers(type, kind, x[i], n);
        for (int j = 0; j < n; j++)
            put(type, vectors, (int64_t)j * elements + i, x[i][j]);
    }
    hs_reduce_exactly(type->element, HSUMMA_SUM, result, vectors, n, bytes);
    for (int i = 0; i < elements; i++) {
        double r = get(type, result, i);
        if (!is_rounded(type, x[i], n, r))
            return 0;
        *diverse += r != 0 && !isinf(r);
    }
    /* In another order, with a zero in between and in another rounding mode. */
    for (int i = 0; i < elements; i++)
        for (int j = 0; j <= n; j++)
            put(type, vectors, (int64_t)j * elements + i, j == n / 2 ? -0.0 : x[i][j < n / 2 ? n - 1 - j : n - j]);
    const int mode[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO};
    fesetround(mode[draw(3)]);
    hs_reduce_exactly(type->element, HSUMMA_SUM, again, vectors, n + 1, bytes);
    fesetround(FE_TONEAREST);
    return memcmp(again, result, (size_t)bytes) == 0;
}

static void test_sums(const struct type *type, int times)
{
    for (enum kind kind = 0; kind < KINDS; kind++) {
        int right = 1, diverse = 0, t = 0;
        for (; t < times && right; t++)
            right = sums_right(type, kind, 1 + draw(MOST - 1), &diverse);
        tap_ok(right && diverse > 0, "%s sums of %s numbers are rounded once, in any order", type->name,
               kind_names[kind]);
    }
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* What IEEE leaves open or makes depend on the order. */
static void test_special(void)
{
    static const struct {
        hsumma_op op;
        double x[3], want;
        const char *what;
    } cases[] = {
        {HSUMMA_SUM, {-0.0, -0.0, -0.0}, 0, "-0 + -0 is +0"},
        {HSUMMA_SUM, {DBL_MAX, DBL_MAX, -DBL_MAX}, DBL_MAX, "an overflow in between does not count"},
        {HSUMMA_SUM, {DBL_MAX, 0x1p969, 0}, DBL_MAX, "below half a unit beyond the largest number"},
        {HSUMMA_SUM, {DBL_MAX, 0x1p970, 0}, INFINITY, "half a unit beyond the largest number"},
        {HSUMMA_SUM, {DBL_MAX, 0x1p970, -0x1p-1074}, DBL_MAX, "a little less than that"},
        {HSUMMA_SUM, {INFINITY, -DBL_MAX, -DBL_MAX}, INFINITY, "an infinity"},
        {HSUMMA_SUM, {-INFINITY, 1, -INFINITY}, -INFINITY, "two infinities of one sign"},
        {HSUMMA_SUM, {INFINITY, 1, -INFINITY}, NAN, "two infinities of opposite sign"},
        {HSUMMA_SUM, {1, -NAN, 2}, NAN, "a NaN"},
        {HSUMMA_SUM, {1, 0x1p-53, 0x1p-1074}, 1 + DBL_EPSILON, "a tie that the smallest number breaks"},
        {HSUMMA_MAX, {-0.0, 0.0, -0.0}, 0, "max of zeros"},
        {HSUMMA_MIN, {0.0, -0.0, 0.0}, -0.0, "min of zeros"},
        {HSUMMA_MAX, {1, -NAN, 2}, NAN, "max with NaN"},
        {HSUMMA_MIN, {-NAN, 1, -INFINITY}, NAN, "min with NaN"},
        {HSUMMA_MAX, {-3, -INFINITY, -2}, -2, "max"},
        {HSUMMA_MIN, {3, INFINITY, 2}, 2, "min"},
    };
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        int right = 1;
        for (int first = 0; first < 3; first++) {
            double x[3], r = -7;
            for (int j = 0; j < 3; j++)
                x[j] = cases[c].x[(first + j) % 3];
            hs_reduce_exactly(HSUMMA_DOUBLE, cases[c].op, &r, x, 3, sizeof r);
            right &= bits_of(r) == bits_of(isnan(cases[c].want) ? (double)NAN : cases[c].want);
        }
        tap_ok(right, "%s, in any order", cases[c].what);
    }
    float nan = -NAN, r = 0;
    uint32_t bits;
    hs_reduce_exactly(HSUMMA_FLOAT, HSUMMA_SUM, &r, &nan, 1, sizeof r);
    memcpy(&bits, &r, sizeof bits);
    tap_ok(bits == 0x7fc00000, "one float that is NaN gives the same NaN");
    int32_t i[3] = {INT32_MAX, 1, -5}, sum;
    hs_reduce_exactly(HSUMMA_INT32, HSUMMA_SUM, &sum, i, 3, sizeof sum);
    tap_ok(sum == INT32_MAX - 4, "integers wrap");
    tap_ok(hs_reduce_exactly(HSUMMA_FLOAT_COMPLEX, HSUMMA_MAX, &r, &nan, 1, sizeof r) &&
               hs_reduce_exactly(HSUMMA_DOUBLE, HSUMMA_USER, &r, &nan, 1, sizeof r),
           "no maximum of complex numbers, no operator of the caller");
}

int main(int argc, char **argv)
{
    draw_seed(19);
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        test_sums(&types[t], argc > 1 && argv[1] ? 300 : 30);
    test_special();
    return tap_done();
}
