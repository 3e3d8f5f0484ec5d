#include "support/scalapack/fuzz_data.h"

#include "support/entry.h"

static double fuzz_entry(const struct fuzz_case *c, int x, int i, int j, int imaginary)
{
    if (x == FUZZ_B && c->store == FUZZ_TWINS)
        x = FUZZ_A;
    uint64_t h =
        hs_scrambled(c->seed ^ hs_scrambled(((uint64_t)i << 32 | (uint64_t)j) * 8 + (uint64_t)(2 * x + imaginary)));
    if (imaginary && !fuzz_complex(c))
        return 0;
    if (c->exact)
        return (int)(h % 17) - 8;
    return (h & 1 ? 0.5 : -0.5) * (1 + (double)(h >> 44) / (1 << 20)); /* 21 bits, modulus from 1/2 to 1 */
}

static hsumma_type fuzz_type(const struct fuzz_case *c)
{
    return fuzz_single(c) ? (fuzz_complex(c) ? HSUMMA_C : HSUMMA_S) : fuzz_complex(c) ? HSUMMA_Z : HSUMMA_D;
}

void fuzz_put(const struct fuzz_case *c, void *at, double re, double im)
{
    double complex entry;
    gemm_store(fuzz_type(c), &entry, 0, CMPLX(re, im));
    memcpy(at, &entry, gemm_element_size(fuzz_type(c))); /* `at` need not be aligned */
}

void fuzz_get(const struct fuzz_case *c, const void *at, double value[2])
{
    double complex entry = gemm_load(fuzz_type(c), at, 0);
    value[0] = creal(entry);
    value[1] = cimag(entry);
}

/* Fills memory with NaNs, a distinct quiet NaN for each place. */
static void fuzz_fill_guard(const struct fuzz_case *c, char *memory, size_t size, int x)
{
    for (size_t i = 0; i < size / (fuzz_single(c) ? 4 : 8); i++) {
        uint64_t h = hs_scrambled(c->seed + i * 4 + (uint64_t)x), wide = 0x7ff8000000000000u | (h & 0xffffffffffffu);
        uint32_t narrow = 0x7fc00000u | (h & 0xfffffu);
        memcpy(memory + i * (fuzz_single(c) ? 4 : 8), fuzz_single(c) ? (void *)&narrow : (void *)&wide,
               fuzz_single(c) ? 4 : 8);
    }
}

static int *fuzz_owned(const struct fuzz_side *s, int processes, int me, int *count)
{
    int *index = malloc(sizeof *index * (size_t)(fuzz_total(s) + 1));
    *count = 0;
    for (int g = 0; index && g < fuzz_total(s); g++) {
        int block = g < s->first ? 0 : 1 + (g - s->first) / s->block;
        if (s->source < 0 || (s->source + block) % processes == me)
            index[(*count)++] = g >= s->offset && g < s->offset + s->length ? g - s->offset : -1;
    }
    return index;
}

char *fuzz_at(const struct fuzz_local *l, int row, int col)
{
    return l->data + l->entry * ((size_t)row + (size_t)col * (size_t)l->ld);
}

int fuzz_make(const struct fuzz_case *c, int x, const int me[2], const struct fuzz_local *home, struct fuzz_local *l)
{
    const double *scalar = x == FUZZ_C ? c->beta : c->alpha;
    memset(l, 0, sizeof *l);
    for (int side = 0; side < 2; side++)
        if (!(l->index[side] = fuzz_owned(&c->x[x].side[side], c->grid[side], me[side], &l->count[side])))
            return 0;
    l->ld = (l->count[0] ? l->count[0] : 1) + c->x[x].pad;
    l->entry = (fuzz_single(c) ? sizeof(float) : sizeof(double)) << fuzz_complex(c);
    l->size = l->entry * ((size_t)l->ld * (size_t)l->count[1] + 2 * FUZZ_GUARD);
    l->borrowed = home != NULL;
    l->memory = home ? home->memory : malloc(l->size);
    if (!l->memory)
        return 0;
    l->data = l->memory + l->entry * FUZZ_GUARD;
    if (!home)
        fuzz_fill_guard(c, l->memory, l->size, x);
    if (scalar[0] == 0 && scalar[1] == 0)
        return 1;
    for (int col = 0; col < l->count[1]; col++)
        for (int row = 0, i, j = l->index[1][col]; j >= 0 && row < l->count[0]; row++)
            if ((i = l->index[0][row]) >= 0)
                fuzz_put(c, fuzz_at(l, row, col), fuzz_entry(c, x, i, j, 0), fuzz_entry(c, x, i, j, 1));
    return 1;
}

void fuzz_drop(struct fuzz_local *l)
{
    free(l->index[0]);
    free(l->index[1]);
    if (!l->borrowed)
        free(l->memory);
    memset(l, 0, sizeof *l);
}

/* Entry (i, j) of op(X). */
static void fuzz_operand(const struct fuzz_case *c, int x, int i, int j, double value[2])
{
    char op = fuzz_op(c, x);
    for (int part = 0; part < 2; part++)
        value[part] = op == 'N' ? fuzz_entry(c, x, i, j, part) : fuzz_entry(c, x, j, i, part);
    if (op == 'C')
        value[1] = -value[1];
}

/* Adds op(A)(rows, :) op(B)(:, j) to sum; `a` has the local rows of op(A) and all k columns. */
static void fuzz_column(const struct fuzz_case *c, int j, int rows, const double *a, double *sum)
{
    double b[2];
    for (int l = 0; l < c->extent[2]; l++, a += 2 * rows) {
        fuzz_operand(c, FUZZ_B, l, j, b);
        for (int row = 0; row < 2 * rows; row += 2) {
            sum[row] += a[row] * b[0] - a[row + 1] * b[1];
            sum[row + 1] += a[row] * b[1] + a[row + 1] * b[0];
        }
    }
}

double *fuzz_reference(const struct fuzz_case *c, const struct fuzz_local *l)
{
    int rows = l->count[0], multiplies = c->alpha[0] != 0 || c->alpha[1] != 0;
    double *result = calloc((size_t)rows * (size_t)l->count[1] * 2 + 1, sizeof *result);
    double *a = calloc((size_t)rows * (size_t)c->extent[2] * 2 + 1, sizeof *a);
    for (int k = 0; a && multiplies && k < c->extent[2]; k++)
        for (int row = 0; row < rows; row++)
            if (l->index[0][row] >= 0)
                fuzz_operand(c, FUZZ_A, l->index[0][row], k, &a[2 * ((size_t)k * (size_t)rows + (size_t)row)]);
    for (int col = 0; result && a && col < l->count[1]; col++) {
        double *sum = result + 2 * (size_t)rows * (size_t)col;
        int j = l->index[1][col];
        if (j >= 0 && multiplies)
            fuzz_column(c, j, rows, a, sum);
        for (int row = 0; j >= 0 && row < rows; row++) {
            int i = l->index[0][row];
            double re = sum[2 * row], im = sum[2 * row + 1];
            double old[2] = {i < 0 ? 0 : fuzz_entry(c, FUZZ_C, i, j, 0), i < 0 ? 0 : fuzz_entry(c, FUZZ_C, i, j, 1)};
            sum[2 * row] = c->alpha[0] * re - c->alpha[1] * im + c->beta[0] * old[0] - c->beta[1] * old[1];
            sum[2 * row + 1] = c->alpha[0] * im + c->alpha[1] * re + c->beta[0] * old[1] + c->beta[1] * old[0];
        }
    }
    free(a);
    return a ? result : (free(result), NULL);
}

double fuzz_bound(const struct fuzz_case *c)
{
    double terms = (double)c->extent[2] * (1 + fuzz_complex(c)), unit = fuzz_single(c) ? 0x1p-24 : 0x1p-53;
    return c->exact ? 0
                    : (terms + 6) * unit *
                          ((fabs(c->alpha[0]) + fabs(c->alpha[1])) * terms + fabs(c->beta[0]) + fabs(c->beta[1]));
}
