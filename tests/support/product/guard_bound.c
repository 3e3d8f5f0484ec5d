#include "support/product/guard_bound.h"

#include <float.h>

/* |x|, for complex types the sum of the absolute values of both parts. */
static double size_of(double complex x)
{
    return fabs(creal(x)) + fabs(cimag(x));
}

/* op(X) for A or B, by columns, which the caller frees. */
static double complex *operand_of(const struct gemm_case *c, int x, int64_t rows, int64_t cols)
{
    const int trans = x == 0 ? c->ta : c->tb;
    double complex *all = malloc((size_t)(rows * cols + 1) * sizeof *all);
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) {
            const double complex entry = trans == 'N' ? gemm_entry(c, x, i, j) : gemm_entry(c, x, j, i);
            all[j * rows + i] = trans == 'C' ? conj(entry) : entry;
        }
    return all;
}

/* Sums per block of rows and column of C: the difference of the checksums of two results, over all ranks, and s and r
 * of doc/trust.md. */
struct compared {
    int64_t height, blocks;
    double complex *difference;
    double *terms, *result;
};

static void compare_checksums(const struct gemm_case *c, const struct gemm_part *local,
                              const struct gemm_part *reference, struct compared *sums)
{
    const int64_t blocks = sums->blocks;
    int copies = 1, P, Q;
    hsumma_grid_info(c->desc[2].grid, &P, &Q, NULL, NULL);
    copies *= (c->desc[2].rsrc < 0 ? P : 1) * (c->desc[2].csrc < 0 ? Q : 1);
    for (int64_t col = 0; col < local->cols; col++)
        for (int64_t row = 0; row < local->rows; row++) {
            int64_t i, j, at = col * c->desc[2].ld + row;
            if (!gemm_inside(c, 2, local, row, col, &i, &j))
                continue;
            double complex now = gemm_load(c->type, local->data, at), was = gemm_load(c->type, reference->data, at);
            if (memcmp(&now, &was, sizeof now) != 0)
                sums->difference[j * blocks + i / sums->height] += hs_checksum_weight(i) * (now - was) / copies;
        }
    MPI_Allreduce(MPI_IN_PLACE, sums->difference, (int)(2 * c->n * blocks), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const int64_t inner = c->alpha != 0 ? c->k : 0;
    double complex *a = operand_of(c, 0, c->m, inner), *b = operand_of(c, 1, inner, c->n);
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = block * sums->height, end = first + sums->height < c->m ? first + sums->height : c->m;
        double greatest = 0; /* of w |op(A)|, which may stand for all its elements */
        for (int64_t l = 0; l < inner; l++) {
            double sum = 0;
            for (int64_t i = first; i < end; i++)
                sum += hs_checksum_weight(i) * size_of(a[l * c->m + i]);
            greatest = fmax(greatest, sum);
        }
        for (int64_t j = 0; j < c->n; j++) {
            double *terms = &sums->terms[j * blocks + block];
            for (int64_t l = 0; l < inner; l++)
                *terms += size_of(c->alpha) * greatest * size_of(b[j * inner + l]);
            for (int64_t i = first; i < end; i++) {
                double complex value = c->beta == 0 ? 0 : c->beta * gemm_entry(c, 2, i, j);
                *terms += hs_checksum_weight(i) * size_of(value);
                for (int64_t l = 0; l < inner; l++)
                    value += c->alpha * a[l * c->m + i] * b[j * inner + l];
                sums->result[j * blocks + block] += hs_checksum_weight(i) * size_of(value);
            }
        }
    }
    free(a);
    free(b);
}

int guard_exceeds(const hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part *local,
                  const struct gemm_part *reference)
{
    const int single = c->type == HSUMMA_S || c->type == HSUMMA_C, is_complex = c->type >= HSUMMA_C;
    const int64_t most = single ? 128 : 512, usual = c->m < 1 ? 1 : c->m < most ? c->m : most;
    const int64_t height = plan ? hs_guard_height(plan) : usual, blocks = c->m / height + 1, count = c->n * blocks;
    const double e = single ? 0x1p-24 : 0x1p-53, adds = (double)(c->k + 8) * e, k = (double)c->k;
    const double tiny = 2 * (double)(height + 1) * (k * (1 + size_of(c->alpha)) + 2) * (single ? FLT_MIN : DBL_MIN);
    struct compared sums = {height, blocks, calloc((size_t)count + 1, sizeof *sums.difference),
                            calloc((size_t)count + 1, sizeof *sums.terms),
                            calloc((size_t)count + 1, sizeof *sums.result)};
    int found = 0;
    compare_checksums(c, local, reference, &sums);
    for (int64_t t = 0; t < count; t++) {
        const double s = sums.terms[t], r = fmin(sums.result[t], s);
        const double by = fmax(fabs(creal(sums.difference[t])), fabs(cimag(sums.difference[t])));
        const double bound = 1.01 * (is_complex ? 4 : 1) *
                             (adds * (s + r) / 2 + 2 * adds * adds * s + ((k < 256 ? k : 256) + 5) * e * s +
                              (k / 8 + 2 * (double)height + 4 * size + 64) * 0x1p-53 * s);
        found |= !(by <= 2 * bound + 4 * tiny);
    }
    free(sums.difference);
    free(sums.terms);
    free(sums.result);
    return found;
}
