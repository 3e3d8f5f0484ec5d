/* The arithmetic of the checks: the part of an operand that this rank owns, times vectors that all ranks hold whole. */
#ifndef HS_BENCHMARKS_CHECK_VECTORS_H
#define HS_BENCHMARKS_CHECK_VECTORS_H

#include <stdint.h>

#include "product/problem.h"

typedef struct vector {
    int64_t n;
    long double *re, *im; /* one allocation; im is NULL for real vectors */
} vector;

/* Zeros. Returns 0 without memory. */
int vector_init(vector *x, int64_t n, int complex);
void vector_free(vector *x);

/* The rows and columns of an operand that this rank owns: consecutive locally, with their places in the matrix. Of an
 * operand that every grid row or column has (a source of -1) only the ranks of one copy have a part. */
typedef struct part {
    const problem *p;
    const operand *of;
    int64_t first_row, first_col, rows, cols; /* local */
    int64_t *row, *col;                       /* in the whole matrix, rows and cols of them */
    double *re, *im;                          /* room for one column */
} part;

/* How many copies there are along the rows and along the columns of the grid; copy is one of them, from 0. */
void part_copies(const problem *p, const operand *of, int copies[2]);

int part_init(part *x, const problem *p, const operand *of, const int copy[2]);
void part_free(part *x);

/* count entries of column s of the part from row r on; local NULL: as generated. im is left alone for real types. */
void part_column(const part *x, const void *local, int64_t s, int64_t r, int64_t count, double *re, double *im);

/* out = op(X) in, summed over all ranks; local as above. */
void part_times(const part *x, const void *local, char op, const vector *in, vector *out);

/* Over all ranks: sums[i] = sum_j |x_ij|, squares[i] = sum_j |x_ij|^2 in[j], X being op of the generated operand; in
 * NULL means ones. */
void part_moduli(const part *x, char op, const double *in, double *sums, double *squares);

#endif
