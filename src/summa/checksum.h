/*
 * Checksums of the operands of a product, for guard=product (hsumma/plan/guard.h): Huang and Abraham, Algorithm-based
 * fault tolerance for matrix operations, IEEE Transactions on Computers C-33 (1984).  Local to the process.
 */
#ifndef HS_SUMMA_CHECKSUM_H
#define HS_SUMMA_CHECKSUM_H

#include "summa/pack.h"

/*
 * A row vector of n elements with, for each, a bound on the sum of absolute values from which it was computed.  Planes
 * of n doubles: the real parts, for complex types the imaginary parts, and the bounds.
 */
static inline int hs_checksum_planes(const struct hs_scalar *scalar)
{
    return scalar->complex_type ? 3 : 2;
}

/* Whether the elements are single-precision numbers. */
static inline int hs_is_single(const struct hs_scalar *scalar)
{
    return scalar->size == (scalar->complex_type ? 2 : 1) * sizeof(float);
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

/*
 * Adds vector * op(X) to `sum`, where X is this process's part of an operand and zero elsewhere.  vector: planes of as
 * many elements as op(X) has rows; NULL for the weights.  sum: planes of as many elements as op(X) has columns.
 */
void hs_checksum_add(const struct hs_scalar *scalar, const struct hs_local_part *part, const double *vector,
                     double *sum);

/* The exclusive or of the bits of each stored row and column of a part: finds and restores a changed element exactly.
 */
struct hs_parity {
    unsigned char *rows; /* an element per local row */
    unsigned char *cols; /* an element per local column */
};

/* Adds a part's bits; both arrays are zeroed by the caller. */
void hs_parity_add(const struct hs_scalar *scalar, const struct hs_local_part *part, struct hs_parity *parity);

/* An element that has changed, and the exclusive or of its bits before and after. */
struct hs_flip {
    int64_t row, col; /* local, as stored */
    unsigned char bits[16];
};
enum { HS_FLIPS = 64 };

/*
 * Compares the parity of a rows x cols part with an earlier one.  Returns the number of changed elements and lists
 * them in flip[]; -1 if they cannot be told apart, because more than one row and more than one column, or too many
 * elements, have changed, or because changes in a row or column cancel.
 */
int hs_parity_compare(const struct hs_scalar *scalar, int64_t rows, int64_t cols, const struct hs_parity *before,
                      const struct hs_parity *after, struct hs_flip flip[HS_FLIPS]);

#endif
