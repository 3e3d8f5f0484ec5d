/*
 * Checksums of the operands of a product, for guard=product (hsumma/guard/guard.h): Huang and Abraham, Algorithm-based
 * fault tolerance for matrix operations, IEEE Transactions on Computers C-33 (1984).  Local to the process.
 */
#ifndef HS_SUMMA_CHECKSUM_H
#define HS_SUMMA_CHECKSUM_H

#include "summa/pack.h"

struct hs_parity; /* parity.h */

/*
 * The rows of op(A) and C are cut into blocks of `height` consecutive rows, each with weighted column sums of its own.
 * The sums of `blocks` blocks over n columns are planes of blocks x n doubles, with the sums of one column together:
 * the real parts, for complex types the imaginary parts, and the sizes, which bound the sums of absolute values (for
 * complex numbers, of both parts) of what has been added.
 */
static inline int hs_checksum_planes(const struct hs_scalar *scalar)
{
    return scalar->complex_type ? 3 : 2;
}

/* The weight of row i of op(A) and C in checksums: at least 1, less than 2, equal on all processes. */
double hs_checksum_weight(int64_t i);

/* This process's part of an operand, in host memory. */
struct hs_local_part {
    const struct hs_view *view;
    int coord[2];            /* this process's row and column of the operand's grid */
    struct hs_matrix matrix; /* the element at local row 0 and column `first` of the part */
    int64_t first, cols;     /* the local columns, as stored, that `matrix` has */
};

/* Adds to `sum` the weighted sums of each block over the columns of op(X), for this process's part of X.  parity: NULL,
 * or what the part's bits are added to while they are in a cache. */
void hs_checksum_add(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t height, int64_t blocks,
                     double *sum, struct hs_parity *parity);

/* Rows of op(X) whose products hs_checksum_multiply adds in the type itself; it adds further ones in double precision.
 */
enum { HS_CHECKSUM_DEPTH = 256 };

/* Bytes of memory for hs_checksum_multiply. */
size_t hs_checksum_work(int64_t blocks);

/*
 * Adds vectors * op(X) to `sum`, for this process's part of X.  vectors, sum: planes of blocks x as many elements as
 * op(X) has rows or columns.  The BLAS multiplies, with as many threads as it has.  Sizes are larger than necessary: of
 * HS_CHECKSUM_DEPTH elements of a vector, the greatest size stands for all.  parity: as above.
 */
void hs_checksum_multiply(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t blocks,
                          const double *vectors, double *sum, struct hs_parity *parity, void *work);

/*
 * The bound on a checksum's difference, |w C - alpha (w op(A)) op(B) - beta w C| for a block of rows and a column, that
 * rounding can explain.  terms: |alpha| (w |op(A)|) |op(B)| + |beta| w |C|; result: w |C| for the new C.  A sum of
 * numbers in any order passes only through sums of some of the numbers, none larger than (terms + result) / 2 in exact
 * arithmetic, and each of its additions rounds by at most epsilon times that.
 */
double hs_checksum_bound(const struct hs_scalar *scalar, int64_t height, int64_t k, int processes, double terms,
                         double result);

#endif
