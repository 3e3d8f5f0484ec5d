/*
 * The kernels' own code (src/gpu/kernels.cu), run by the host thread by thread, compared with base/operators.c and
 * base/scalar.inc: equal bits for every element, operator, count, alignment and number of operands.
 */
#include "support/random.h"
#include "support/tap.h"

#if HSUMMA_HAVE_CUDA
#include "base/operators.h"
#include "gpu/kernels.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, LONGEST = 5000, MOST = HS_KERNEL_MOST };

/* defined in tests/device/on_host */
extern int on_host_dry;
extern unsigned on_host_grid[2];

/* Draws numbers of all magnitudes and special values. */
static double number(void)
{
    static const double special[] = {0.0,     -0.0,     INFINITY,  -INFINITY, NAN,
                                     DBL_MAX, -DBL_MAX, 0x1p-1074, 0x1p-149,  (double)FLT_MAX};
    if (draw(8) == 0)
        return special[draw(sizeof special / sizeof *special)];
    return ldexp(draw(1 << 30) - 0x1p29, draw(60) - 50);
}

static const struct element {
    hsumma_element element;
    enum hs_kernel_real real;
    size_t size;
    int whole;
} elements[] = {
    {HSUMMA_FLOAT, HS_KERNEL_FLOAT, 4, 0},
    {HSUMMA_DOUBLE, HS_KERNEL_DOUBLE, 8, 0},
    {HSUMMA_INT32, HS_KERNEL_INT32, 4, 1},
    {HSUMMA_INT64, HS_KERNEL_INT64, 8, 1},
};

/* Fills elements by memcpy, because they need not be aligned. */
static void fill(char *to, int64_t count, const struct element *is)
{
    for (int64_t i = 0; i < count; i++) {
        double d = number();
        float f = (float)d;
        uint64_t n = draw(4) ? draw_bits() : (uint64_t)(draw(4) - 2) + ((uint64_t)draw(2) << 63);
        const void *from = is->whole ? (const void *)&n : is->size == 8 ? (const void *)&d : (const void *)&f;
        memcpy(to + i * (int64_t)is->size, from, is->size);
    }
}

static int is_nan(const char *x, const struct element *is)
{
    double d;
    float f;
    memcpy(&d, x, is->size == 8 ? 8 : 4);
    memcpy(&f, x, 4);
    return !is->whole && (is->size == 8 ? isnan(d) : isnan(f));
}

/* The number of elements whose bits differ; any two NaNs are equal if any_nan is set, as for sums. */
static int64_t differ(const char *x, const char *y, int64_t count, const struct element *is, int any_nan)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++, x += is->size, y += is->size)
        wrong += memcmp(x, y, is->size) != 0 && !(any_nan && is_nan(x, is) && is_nan(y, is));
    return wrong;
}

/* The operands of one combination, in allocations of exact length: a sanitizer detects accesses beyond them. */
struct question {
    char *base[MOST + 1], *operand[MOST + 1]; /* the last one is dst if dst is none of the operands */
    int64_t count;
    int operands, dst;
};

/* Draws operands. how: 0: aligned to 16 bytes; 1: all at one offset; 2: at multiples of the size; 3: at any byte. */
static void ask(struct question *q, const struct element *is, int how)
{
    size_t alike = draw(16 / is->size) * is->size;
    for (int k = 0; k <= q->operands; k++) {
        size_t shift = how == 0 ? 0 : how == 1 ? alike : how == 2 ? draw(16 / is->size) * is->size : (size_t)draw(16);
        size_t bytes = (size_t)q->count * is->size;
        q->base[k] = malloc(GUARD + shift + bytes + (k == q->operands ? GUARD : 0));
        q->operand[k] = q->base[k] + GUARD + shift;
        memset(q->base[k], 0x5a, GUARD + shift);
        fill(q->operand[k], q->count, is);
        if (k == q->operands)
            memset(q->operand[k] + bytes, 0x5a, GUARD);
    }
}

/* Computes the expected result by the host's operators, one operand at a time. */
static char *answer(const struct question *q, const struct element *is, hsumma_op op)
{
    int64_t bytes = q->count * (int64_t)is->size;
    char *sum = malloc((size_t)bytes), *next = malloc((size_t)bytes);
    memcpy(sum, q->operand[0], (size_t)bytes);
    for (int k = 1; k < q->operands; k++) {
        memcpy(next, q->operand[k], (size_t)bytes);
        hs_operator_of(is->element, op)(sum, sum, next, bytes, NULL);
    }
    free(next);
    return sum;
}

static int64_t guards_broken(const struct question *q, const struct element *is)
{
    int64_t broken = 0;
    const char *end = q->operand[q->operands] + q->count * (int64_t)is->size;
    for (const char *c = q->base[q->operands]; c < q->operand[q->operands]; c++)
        broken += *c != 0x5a;
    for (int i = 0; i < GUARD; i++)
        broken += end[i] != 0x5a;
    return broken;
}

static void test_combine(const struct element *is, hsumma_op op)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 15, 31, 255, 256, 257, 511, 1024, 2049, 3333, LONGEST};
    static const int numbers[] = {2, 3, 4, 5, 6, 9, 10, 17, 32};
    const struct hs_kernels kernels = {.combine_blocks = 2};
    int64_t wrong = 0, broken = 0, failed = 0;
    for (unsigned n = 0; n < sizeof numbers / sizeof *numbers; n++)
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int how = 0; how < 4; how++) {
                struct question q = {.count = counts[i], .operands = numbers[n]};
                q.dst = draw(2) ? q.operands : draw(q.operands);
                ask(&q, is, how);
                char *expected = answer(&q, is, op);
                failed += hs_kernels_combine(&kernels, NULL, q.operand[q.dst], (const void *const *)q.operand,
                                             q.operands, q.count, is->real, (enum hs_kernel_op)op) != cudaSuccess;
                wrong += differ(q.operand[q.dst], expected, q.count, is, op == HSUMMA_SUM);
                broken += guards_broken(&q, is);
                free(expected);
                for (int k = 0; k <= q.operands; k++)
                    free(q.base[k]);
            }
    tap_ok(wrong + broken + failed == 0,
           "combine %s %s: %" PRId64 " elements wrong, %" PRId64 " guards broken, %" PRId64 " failed",
           hs_element_name(is->element), hs_op_name(op), wrong, broken, failed);
}

static const struct {
    enum hs_kernel_scalar scalar;
    struct element real;
} scalars[] = {
    [HSUMMA_S] = {HS_KERNEL_S, {HSUMMA_FLOAT, HS_KERNEL_FLOAT, 4, 0}},
    [HSUMMA_D] = {HS_KERNEL_D, {HSUMMA_DOUBLE, HS_KERNEL_DOUBLE, 8, 0}},
    [HSUMMA_C] = {HS_KERNEL_C, {HSUMMA_FLOAT, HS_KERNEL_FLOAT, 4, 0}},
    [HSUMMA_Z] = {HS_KERNEL_Z, {HSUMMA_DOUBLE, HS_KERNEL_DOUBLE, 8, 0}},
};

/* Makes a value of a type from a real and an imaginary part. */
static void value_of(hsumma_type type, double x, double y, union hs_value *value)
{
    const double d[2] = {x, y};
    const float f[2] = {(float)x, (float)y};
    memcpy(value, scalars[type].real.size == 8 ? (const void *)d : (const void *)f, hs_scalars[type].size);
}

static void test_update(hsumma_type type)
{
    static const double betas[][2] = {{0, 0}, {1, 0},    {-1, 0},       {0.3, 0},      {0.3, -2}, {0, 1},
                                      {1, 1}, {-0.0, 0}, {INFINITY, 0}, {0, INFINITY}, {NAN, 0},  {1e30, -1e30}};
    static const int64_t shapes[][2] = {{1, 1}, {1, 700}, {700, 1}, {3, 5}, {17, 33}, {256, 3}, {300, 40}, {2500, 2}};
    const struct element *real = &scalars[type].real;
    const size_t size = hs_scalars[type].size, each = size / real->size;
    const struct hs_kernels kernels = {.update_blocks = 3};
    int64_t wrong = 0, failed = 0;
    for (unsigned b = 0; b < sizeof betas / sizeof *betas; b++)
        for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int how = 0; how < 8; how++) { /* bit 0: padded columns of C; bit 1: of S; bit 2: no S */
                int64_t rows = shapes[i][0], cols = shapes[i][1], ldc = rows + (how & 1) * 3, lds = rows + (how & 2);
                size_t c_bytes = (size_t)(ldc * (cols - 1) + rows) * size,
                       s_bytes = (size_t)(lds * (cols - 1) + rows) * size;
                union hs_value beta;
                char *c = malloc(c_bytes), *expected = malloc(c_bytes), *s = how & 4 ? NULL : malloc(s_bytes);
                fill(c, (int64_t)(c_bytes / real->size), real);
                if (s)
                    fill(s, (int64_t)(s_bytes / real->size), real);
                memcpy(expected, c, c_bytes);
                value_of(type, betas[b][0], each == 2 ? betas[b][1] : 0, &beta);
                hs_scalars[type].update(rows, cols, &beta, expected, ldc, s, lds);
                failed += hs_kernels_update(&kernels, NULL, scalars[type].scalar, rows, cols, &beta, c, ldc, s, lds) !=
                          cudaSuccess;
                wrong += differ(c, expected, (int64_t)(c_bytes / real->size), real, 1);
                free(c), free(expected), free(s);
            }
    tap_ok(wrong + failed == 0, "update %c: %" PRId64 " reals wrong, %" PRId64 " failed", hs_scalars[type].letter,
           wrong, failed);
}

/* Checks the launch grids for sizes beyond any memory; no thread runs. */
static void test_large(void)
{
    const struct hs_kernels kernels = {.combine_blocks = 132 * 8, .update_blocks = 132 * 8};
    const double beta = 0.5;
    char *at = (char *)(uintptr_t)(1 << 20);
    const void *operand[2] = {at, at + 8};
    unsigned grids[3];
    int wrong = 0;
    on_host_dry = 1;
    wrong += hs_kernels_combine(&kernels, NULL, at, operand, 2, (int64_t)1 << 40, HS_KERNEL_FLOAT, HS_KERNEL_SUM) !=
             cudaSuccess;
    grids[0] = on_host_grid[0];
    wrong += hs_kernels_update(&kernels, NULL, HS_KERNEL_D, (int64_t)1 << 33, 1 << 10, &beta, at, (int64_t)1 << 34,
                               NULL, 0) != cudaSuccess;
    grids[1] = on_host_grid[0] * on_host_grid[1];
    wrong += hs_kernels_update(&kernels, NULL, HS_KERNEL_D, 3, (int64_t)1 << 33, &beta, at, 4, NULL, 0) != cudaSuccess;
    grids[2] = on_host_grid[0] * on_host_grid[1];
    on_host_dry = 0;
    for (int i = 0; i < 3; i++)
        wrong += grids[i] < 132 || grids[i] > 2 * 132 * 8;
    tap_ok(wrong == 0, "2^40 elements, 2^33 rows, 2^33 columns: grids of %u, %u, %u blocks", grids[0], grids[1],
           grids[2]);
}

static void test_refused(void)
{
    const struct hs_kernels kernels = {2, 2};
    _Alignas(16) char c[64];
    const union hs_value beta = {.z = 2};
    const void *operand[MOST + 1] = {c};
    tap_ok(hs_kernels_update(&kernels, NULL, HS_KERNEL_Z, 1, 1, &beta, c + 8, 1, NULL, 0) ==
                   cudaErrorMisalignedAddress &&
               hs_kernels_combine(&kernels, NULL, c, operand, MOST + 1, 1, HS_KERNEL_FLOAT, HS_KERNEL_SUM) ==
                   cudaErrorInvalidValue,
           "an address that the device would stop at, and too many operands, are refused");
}

int main(void)
{
    for (unsigned e = 0; e < sizeof elements / sizeof *elements; e++)
        for (int op = HSUMMA_SUM; op <= HSUMMA_MIN; op++)
            test_combine(&elements[e], (hsumma_op)op);
    for (int type = HSUMMA_S; type <= HSUMMA_Z; type++)
        test_update((hsumma_type)type);
    test_large();
    test_refused();
    return tap_done();
}
#else
int main(void)
{
    tap_skip(1, "this library has been built without CUDA");
    return tap_done();
}
#endif
