/*
 * Exact sums in two ways. Error-free additions (Knuth's TwoSum) keep the sum of an element in two floating-point
 * numbers; if no bit was lost, adding these two rounds the exact sum once. This is almost always so, and vectorizes.
 * Other elements, among them those with an operand that is infinite or NaN, pass through an integer accumulator that
 * covers the whole range of the type: Neal, Fast Exact Summation Using Small and Large Superaccumulators (2015).
 */
#include "base/operators.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Bits of an IEEE format. An accumulator has digits of 32 bits; digit 0 begins at the smallest subnormal number. */
struct format {
    int size, fraction; /* bytes of a number, bits of its fraction */
    uint64_t infinity, nan;
    int digits; /* enough for 2^30 of the largest numbers, and two more */
};
static const struct format binary32 = {4, 23, 0x7f800000, 0x7fc00000, 13};
static const struct format binary64 = {8, 52, 0x7ff0000000000000, 0x7ff8000000000000, 70};
enum { MOST_DIGITS = 70 };
static const uint64_t low_digit = 0xffffffff;

/* Moves what exceeds 32 bits to the next digit. Only the last digit may then be negative. */
static void carry(int64_t *digit, int digits)
{
    for (int i = 0; i < digits - 1; i++) {
        int64_t over = digit[i] >> 32;
        digit[i] -= over * ((int64_t)1 << 32);
        digit[i + 1] += over;
    }
}

/* Makes the accumulator nonnegative with digits of 32 bits; returns 1 if it was negative. */
static int normalize(int64_t *digit, int digits)
{
    carry(digit, digits);
    int negative = digit[digits - 1] < 0;
    for (int i = 0; negative && i < digits; i++)
        digit[i] = -digit[i];
    if (negative)
        carry(digit, digits);
    return negative;
}

/* The magnitude of a normalized accumulator, rounded to the format. */
static uint64_t round_once(const struct format *format, const int64_t *digit)
{
    int high = format->digits - 1, top = 0;
    while (high > 0 && digit[high] == 0)
        high--;
    while (top < 32 && digit[high] >> top)
        top++;
    if (top == 0)
        return 0;
    /* The last bit that the result keeps; 0 is that of subnormal numbers. */
    int last = 32 * high + top - 1 - format->fraction, rest = 0;
    if (last <= 0)
        return (uint64_t)digit[0] | (uint64_t)digit[1] << 32;
    int first = last / 32, shift = last % 32;
    uint64_t kept = ((uint64_t)digit[first] | (uint64_t)digit[first + 1] << 32) >> shift;
    if (shift)
        kept |= (uint64_t)digit[first + 2] << (64 - shift);
    int half = (digit[(last - 1) / 32] >> (last - 1) % 32) & 1;
    rest = (digit[(last - 1) / 32] & (((int64_t)1 << (last - 1) % 32) - 1)) != 0;
    for (int i = 0; i < (last - 1) / 32; i++)
        rest |= digit[i] != 0;
    /* The leading bit of `kept` adds one to the exponent, and so does a carry out of the fraction. */
    uint64_t bits = ((uint64_t)last << format->fraction) + kept + (half && (rest || kept & 1));
    return bits < format->infinity ? bits : format->infinity;
}

static uint64_t load(const struct format *format, const char *at)
{
    uint32_t narrow;
    uint64_t wide;
    if (format->size == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

/* dst = the sum of `operands` numbers that are `stride` bytes apart, by an accumulator. */
static void accumulate(const struct format *format, char *dst, const char *at, int operands, int64_t stride)
{
    enum { IS_NAN = 1, IS_PLUS = 2, IS_MINUS = 4 };
    const uint64_t sign = (uint64_t)1 << (8 * format->size - 1), unit = (uint64_t)1 << format->fraction;
    int64_t digit[MOST_DIGITS];
    int special = 0;
    memset(digit, 0, (size_t)format->digits * sizeof *digit);
    for (int j = 0; j < operands; j++) {
        uint64_t bits = load(format, at + j * stride), fraction = bits & (unit - 1);
        uint64_t exponent = (bits & (sign - 1)) >> format->fraction;
        int negative = (bits & sign) != 0;
        if ((bits & (sign - 1)) >= format->infinity) {
            special |= fraction ? IS_NAN : negative ? IS_MINUS : IS_PLUS;
            continue;
        }
        int place = exponent ? (int)exponent - 1 : 0;
        fraction |= exponent ? unit : 0;
        uint64_t low = (fraction & low_digit) << place % 32, high = (fraction >> 32) << place % 32;
        const uint64_t part[3] = {low & low_digit, (low >> 32) + (high & low_digit), high >> 32};
        for (int k = 0; k < 3; k++)
            digit[place / 32 + k] += negative ? -(int64_t)part[k] : (int64_t)part[k];
    }
    uint64_t result = 0;
    if (special) {
        result = special == IS_PLUS ? format->infinity : special == IS_MINUS ? format->infinity | sign : format->nan;
    } else {
        int negative = normalize(digit, format->digits);
        result = round_once(format, digit) | (negative ? sign : 0);
    }
    const uint32_t narrow = (uint32_t)result;
    memcpy(dst, format->size == sizeof narrow ? (const void *)&narrow : (const void *)&result, (size_t)format->size);
}

/* True if additions round to nearest, keep no excess precision and do not flush subnormal numbers to zero. */
static int is_plain_arithmetic(void)
{
    volatile double least = DBL_MIN;
    return FLT_EVAL_METHOD == 0 && fegetround() == FE_TONEAREST && least / 2 != 0;
}

/* BLOCK elements at a time, so that the compiler vectorizes the loop. `lost` is NaN if an operand is infinite or NaN.
 */
enum { BLOCK = 32 };
#define SUM(name, type, format)                                                                                     \
    static void name(void *dst, const void *vectors, int operands, int64_t bytes)                                   \
    {                                                                                                               \
        const int plain = is_plain_arithmetic();                                                                    \
        for (int64_t at = 0; at < bytes; at += BLOCK * (int64_t)sizeof(type)) {                                     \
            int64_t left = (bytes - at) / (int64_t)sizeof(type), count = left < BLOCK ? left : BLOCK;               \
            type sum[BLOCK] = {0}, error[BLOCK] = {0}, lost[BLOCK] = {0}, x[BLOCK] = {0};                           \
            const char *from = (const char *)vectors + at;                                                          \
            char *to = (char *)dst + at;                                                                            \
            for (int j = 0; j < operands; j++) {                                                                    \
                if (count == BLOCK)                                                                                 \
                    memcpy(x, from + j * bytes, sizeof x);                                                          \
                else                                                                                                \
                    memcpy(x, from + j * bytes, (size_t)count * sizeof *x);                                         \
                for (int i = 0; i < BLOCK; i++) {                                                                   \
                    type s = sum[i] + x[i], t = s - sum[i], low = (sum[i] - (s - t)) + (x[i] - t);                  \
                    type e = error[i] + low, u = e - error[i], gone = (error[i] - (e - u)) + (low - u);             \
                    sum[i] = s;                                                                                     \
                    error[i] = e;                                                                                   \
                    lost[i] += gone < 0 ? -gone : gone;                                                             \
                }                                                                                                   \
            }                                                                                                       \
            for (int i = 0; i < BLOCK; i++)                                                                         \
                x[i] = sum[i] + error[i];                                                                           \
            memcpy(to, x, (size_t)count * sizeof *x);                                                               \
            for (int i = 0; i < count; i++)                                                                         \
                if (!plain || !(lost[i] == 0))                                                                      \
                    accumulate(&format, to + i * (int64_t)sizeof(type), from + i * (int64_t)sizeof(type), operands, \
                               bytes);                                                                              \
        }                                                                                                           \
    }
SUM(sum_float, float, binary32)
SUM(sum_double, double, binary64)

/* `better` holds for operands that compare; equal ones differ at most in the signs of zeros. */
#define EXTREME(name, type, better)                                               \
    static void name(void *dst, const void *vectors, int operands, int64_t bytes) \
    {                                                                             \
        int64_t count = bytes / (int64_t)sizeof(type);                            \
        const type *x = vectors;                                                  \
        for (int64_t i = 0; i < count; i++) {                                     \
            type best = x[i];                                                     \
            for (int64_t j = 0; j < operands; j++) {                              \
                type y = x[j * count + i];                                        \
                if (isnan(y) || isnan(best))                                      \
                    best = (type)NAN;                                             \
                else if (better)                                                  \
                    best = y;                                                     \
            }                                                                     \
            ((type *)dst)[i] = best;                                              \
        }                                                                         \
    }
EXTREME(max_float, float, y > best || (y == best && signbit(best)))
EXTREME(min_float, float, y < best || (y == best && signbit(y)))
EXTREME(max_double, double, y > best || (y == best && signbit(best)))
EXTREME(min_double, double, y < best || (y == best && signbit(y)))

int hs_reduce_exactly(hsumma_element element, hsumma_op op, void *dst, const void *vectors, int operands, int64_t bytes)
{
    static void (*const table[HSUMMA_DOUBLE_COMPLEX + 1][HS_OPS])(void *, const void *, int, int64_t) = {
        [HSUMMA_FLOAT] = {sum_float, max_float, min_float},
        [HSUMMA_DOUBLE] = {sum_double, max_double, min_double},
        [HSUMMA_FLOAT_COMPLEX] = {sum_float},
        [HSUMMA_DOUBLE_COMPLEX] = {sum_double},
    };
    hs_combine *const combine = hs_operator_of(element, op);
    if (!combine)
        return -1;
    if (element <= HSUMMA_DOUBLE_COMPLEX) {
        table[element][op](dst, vectors, operands, bytes);
        return 0;
    }
    memcpy(dst, vectors, (size_t)bytes); /* operators of integers are exact */
    for (int j = 1; j < operands; j++)
        combine(dst, dst, (const char *)vectors + j * bytes, bytes, NULL);
    return 0;
}
