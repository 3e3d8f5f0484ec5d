/* The arithmetic of the checks: this rank's part of an operand times vectors that every rank holds whole. */
#ifndef HS_BENCHMARKS_CHECK_VECTORS_H
#define HS_BENCHMARKS_CHECK_VECTORS_H

#include <stdint.h>

#include "product/problem.h"

typedef struct vector {
    int64_t n;
    long double *re, *im; /* one allocation; im is NULL for real vectors */
} vector;

/* Makes a vector of zeros. Returns 0 if out of memory. */
int vector_init(vector *x, int64_t n, int complex);
void vector_free(vector *x);

/* The rows and columns of an operand that this rank owns: locally consecutive, with their global indices. If every grid
 * row holds all rows, or every grid column all columns (a source of -1), only the ranks of one copy have a part. */
typedef struct part {
    const problem *p;
    const operand *of;
    int64_t first_row, first_col, rows, cols; /* first local indices; numbers of rows and of columns */
    int64_t *row, *col;                       /* global indices of the rows and of the columns */
    double *re, *im;                          /* buffers for one column */
} part;

/* The number of copies of an operand: copies[0] is the number of grid rows if rsrc is -1, copies[1] the number of grid
 * columns if csrc is -1; else 1. */
void part_copies(const problem *p, const operand *of, int copies[2]);

/* copy: the grid row and grid column whose copy is meant, if there are several. Returns 0 if out of memory. */
int part_init(part *x, const problem *p, const operand *of, const int copy[2]);
void part_free(part *x);

/* Reads `count` entries of column s of the part, from row r on. They come from `local`; if it is NULL, they are
 * generated. im is not written for real types. */
void part_column(const part *x, const void *local, int64_t s, int64_t r, int64_t count, double *re, double *im);

/* out = op(X) in, summed over all ranks; X is in `local`, or generated if `local` is NULL. Collective. */
void part_times(const part *x, const void *local, char op, const vector *in, vector *out);

/* sums[i] = sum_j |x_ij| and squares[i] = sum_j |x_ij|^2 in[j], where X is op of the generated operand; in = NULL
 * stands for ones. Both arrays must be 0 before the call. Collective. */
void part_moduli(const part *x, char op, const double *in, double *sums, double *squares);

#endif
