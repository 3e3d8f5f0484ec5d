/* Every kernel of bits=anywhere against single elements, bit for bit: all types, operations and leading dimensions,
 * with tiles, blocks and depths that are cut short. */
#include "summa/local/ordered.h"

#include "support/entry.h"
#include "support/product/ordered_entry.h"
#include "support/random.h"
#include "support/tap.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 60, TRIES = 300 };

struct matrix {
    char op;
    int64_t rows, cols, ld; /* of op(X); as stored for ld */
    char *data;
};

static struct matrix draw_matrix(hsumma_type type, char op, int64_t rows, int64_t cols)
{
    struct matrix x = {.op = op, .rows = rows, .cols = cols};
    int64_t stored = op == 'N' ? cols : rows;
    x.ld = (op == 'N' ? rows : cols) + draw(3);
    x.data = malloc((size_t)(x.ld * stored) * gemm_element_size(type));
    for (int64_t t = 0; t < x.ld * stored; t++)
        gemm_store(type, x.data, t, draw_fraction() - 0.5 + (draw_fraction() - 0.5) * I);
    return x;
}

static double complex entry(hsumma_type type, const struct matrix *x, int64_t i, int64_t j)
{
    double complex v = gemm_load(type, x->data, x->op == 'N' ? i + j * x->ld : j + i * x->ld);
    return x->op == 'C' ? conj(v) : v;
}

static int extent_of(int most)
{
    return 1 + draw(draw(3) ? 40 : most);
}

/* The number of wrong elements of a product, of those that are tried, and of overwritten ones. */
static int64_t wrong_elements(const struct hs_ordered_kernel *kernel, hsumma_type type)
{
    const struct hs_scalar *scalar = &hs_scalars[type];
    const int64_t m = extent_of(280), n = extent_of(30), k = extent_of(400);
    const char *ops = scalar->complex_type ? "NTC" : "NT";
    const int count = scalar->complex_type ? 3 : 2;
    const double complex alpha = draw(2) ? 1 : 0.7 - (scalar->complex_type ? 0.3 * I : 0);
    union hs_value rounded;
    gemm_store(type, &rounded, 0, alpha);
    const double complex exact = gemm_load(type, &rounded, 0);
    struct matrix a = draw_matrix(type, ops[draw(count)], m, k), b = draw_matrix(type, ops[draw(count)], k, n);
    struct matrix c = draw_matrix(type, 'N', m, n), before = c;
    size_t bytes = (size_t)(c.ld * n) * scalar->size;
    before.data = malloc(bytes);
    memcpy(before.data, c.data, bytes);
    const struct hs_ordered_product product = {
        .extent = {m, n, k},
        .a = a.data,
        .b = b.data,
        .c = c.data,
        .a_stride = {a.op == 'N' ? 1 : a.ld, a.op == 'N' ? a.ld : 1},
        .b_stride = {b.op == 'N' ? 1 : b.ld, b.op == 'N' ? b.ld : 1},
        .ldc = c.ld,
        .conjugate = {a.op == 'C', b.op == 'C'},
        .complex_type = scalar->complex_type,
        .alpha = {creal(exact), cimag(exact)},
    };
    kernel->multiply[type == HSUMMA_S || type == HSUMMA_C](&product);
    double complex *row = malloc((size_t)k * sizeof *row), *col = malloc((size_t)k * sizeof *col);
    int64_t wrong = 0;
    for (int t = 0; t < TRIES; t++) {
        int64_t i = draw((int)m), j = draw((int)n);
        for (int64_t l = 0; l < k; l++) {
            row[l] = entry(type, &a, i, l);
            col[l] = entry(type, &b, l, j);
        }
        wrong += entry(type, &c, i, j) != ordered_entry(type, k, exact, row, col, 1, entry(type, &before, i, j));
    }
    for (int64_t j = 0; j < n; j++)
        wrong += memcmp(c.data + (size_t)(j * c.ld + m) * scalar->size,
                        before.data + (size_t)(j * c.ld + m) * scalar->size, (size_t)(c.ld - m) * scalar->size) != 0;
    free(a.data), free(b.data), free(c.data), free(before.data), free(row), free(col);
    return wrong;
}

int main(void)
{
    for (int i = 0; i < HS_ORDERED_KERNELS; i++) {
        const struct hs_ordered_kernel *kernel = &hs_ordered_kernels[i];
        if (!kernel->runs()) {
            tap_diag("%s", kernel->name);
            tap_skip(4, "this processor lacks the instructions");
            continue;
        }
        for (int type = 0; type < 4; type++) {
            int64_t wrong = 0;
            for (int t = 0; t < CASES; t++)
                wrong += wrong_elements(kernel, (hsumma_type)type);
            tap_ok(wrong == 0, "%s, type %c: %lld wrong elements", kernel->name, hs_scalars[type].letter,
                   (long long)wrong);
        }
    }
    return tap_done();
}
