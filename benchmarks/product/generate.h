/* The matrices of the benchmarks: every entry is a hash of (seed, matrix, row, column), so any process can compute any
 * entry, and a matrix is the same on every grid. Values are uniform in [-0.5, 0.5) and exact in their type. */
#ifndef HS_BENCHMARKS_PRODUCT_GENERATE_H
#define HS_BENCHMARKS_PRODUCT_GENERATE_H

#include <stdint.h>

#include "hsumma.h"

enum { MATRIX_A = 1, MATRIX_B, MATRIX_C };

/* Generates the rows row[0..rows-1] of one column as doubles; im is NULL for real types. */
void generate_column(hsumma_type type, uint64_t seed, int matrix, const int64_t *row, int64_t rows, int64_t col,
                     double *re, double *im);

/* Generates one entry; value[1] is 0 for real types. */
void generate_entry(hsumma_type type, uint64_t seed, int matrix, int64_t row, int64_t col, double value[2]);

/* Fills this process's part of the matrix that desc describes; padding is not written. local may be NULL if it is
 * empty. */
void generate_local(hsumma_type type, uint64_t seed, int matrix, const hsumma_desc *desc, void *local);

/* Fills this process's part with NaN: for a C that a product with beta = 0 must not read. */
void generate_nan(hsumma_type type, const hsumma_desc *desc, void *local);

/* Generates the which-th random vector of the check: random signs, magnitudes in [0.5, 1) so that no entry of a matrix
 * is hidden by a small factor; 24 bits, exact in every type. */
void generate_vector(uint64_t seed, int which, int64_t n, long double *x);

#endif
