/*
 * The GEMM of bits=anywhere.  Each element of C starts from beta c_ij, rounded once, and then adds its terms one by one
 * in ascending order of k, each with one fused multiply-add:
 *
 *     c_ij = fma(op(a)_ik, alpha op(b)_kj, c_ij)    for k = 0, 1, ...
 *
 * A complex term is added as two real ones per part: re a re b, then -im a im b, to the real part; im a re b, then
 * re a im b, to the imaginary part.  alpha op(b)_kj is rounded first.
 *
 * C itself is the accumulator, so cutting k into several calls does not change a bit, nor does any cut of rows and
 * columns.  A fused multiply-add is correctly rounded, so all processors agree, with vectors of any width.
 */
#ifndef HS_SUMMA_LOCAL_ORDERED_H
#define HS_SUMMA_LOCAL_ORDERED_H

#include "base/scalar.h"

/* C += op(A) alpha op(B).  Strides and sizes are in elements. */
struct hs_ordered_product {
    int64_t extent[3]; /* m, n, k: all at least 1 */
    const void *a, *b;
    void *c;
    int64_t a_stride[2], b_stride[2]; /* distances between the rows [0] and the columns [1] of op(A) and op(B) */
    int64_t ldc;
    int conjugate[2]; /* 1 if op conjugates A, B */
    int complex_type;
    double alpha[2]; /* real and imaginary part */
};

/* A way to compute it; all give the same bits. */
struct hs_ordered_kernel {
    const char *name;
    int (*runs)(void);                                             /* whether this processor can execute it */
    void (*multiply[2])(const struct hs_ordered_product *product); /* [0]: double, [1]: single precision */
};

enum { HS_ORDERED_KERNELS = 3 };
extern const struct hs_ordered_kernel hs_ordered_kernels[HS_ORDERED_KERNELS]; /* the fastest first */

/* Replaces the GEMM of a scalar type by this one. */
void hs_scalar_order(struct hs_scalar *scalar);

#endif
