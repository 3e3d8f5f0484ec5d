/*
 * Checks whether C is right, without the library's arithmetic, the BLAS, or the stored A and B. The entries of A and B
 * are computed again from hashes, so a result computed from an overwritten A or B fails.
 *
 * The residual is always checked: with d = C x - alpha op(A) (op(B) x) - beta C0 x in long double, the largest over 3
 * random x of
 *
 *     ||d||_inf / (eps (|alpha| k ||op(A)||_inf ||op(B)||_inf + |beta| ||C0||_inf) ||x||_inf),
 *
 * eps = 2^-53 (2^-24 in single precision). Values below CHECK_RESIDUAL_LIMIT pass. This test is cheap, but blunt for
 * large k.
 *
 * A strict check adds two tests.
 *
 *   Entries: some of each process's entries of C against their dot products in long double; the bound is the rigorous
 *   one, (k + 4) eps (|alpha| sum |a| |b| + |beta| |c0|), with 2 k and twice the whole for complex types.
 *
 *   Rows: |d_i| against the rounding error expected in row i. The entries have random signs, so a partial sum of l
 *   terms has the size of sqrt(sum |a|^2 |b|^2), not of the sum of moduli; rounding it adds an independent error of
 *   at most eps times that. The sum of k such errors has the standard deviation
 *   eps sqrt(k sum_l |a_il|^2 |b_lj|^2), and the sum over j is a random walk as well:
 *
 *     |d_i| <= 8 eps sqrt(k + 4) sqrt(V_i),   V_i = |alpha|^2 sum_l |a_il|^2 sum_j |b_lj|^2 + |beta|^2 sum_j |c0_ij|^2
 *
 *   (2 k for complex types). The bound is about ten times the errors observed, yet only 2e-12 at m = n = k = 1000 in
 *   double. An error e in one entry of C changes its row by |e| |x_j| >= |e| / 2 for each x, so an error of 1e-9 is
 *   found up to about n = k = 40,000.
 */
#ifndef HS_BENCHMARKS_CHECK_RESULT_H
#define HS_BENCHMARKS_CHECK_RESULT_H

#include <stdint.h>

#include "product/problem.h"

#define CHECK_RESIDUAL_LIMIT 16.0

typedef struct check_outcome {
    int passed;
    double residual;               /* infinite if C holds a NaN */
    int strict;                    /* 1: the members below were computed */
    int64_t entries;               /* entries compared one by one */
    double entry_error, row_error; /* the largest of each, relative to its bound: up to 1 passes */
    /* row: that of row_error, -1 if none; col: that of the row's worst entry, -1 unless the row failed and n k <= 2e9
     */
    int64_t row, col;
    double difference; /* modulus of that entry's difference from the right value */
} check_outcome;

/* Checks the product's C, each copy if there are several; c: this rank's part. Collective. Returns an exit status (enum
 * of command.h); a wrong C is reported in *out, not by the status. */
int check_product(const problem *p, const void *c, int strict, check_outcome *out);

/* Adds `value` to entry (row, col) of the product's C, on the rank that owns it; with several copies, in the last one.
 */
void check_plant(const problem *p, void *c, double value, int64_t row, int64_t col);

#endif
