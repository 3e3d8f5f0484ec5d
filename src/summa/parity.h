/* Parities of an operand's bits, which find and restore changed elements exactly, for guard=product.  Local to the
 * process. */
#ifndef HS_SUMMA_PARITY_H
#define HS_SUMMA_PARITY_H

#include "summa/checksum.h"

/* The exclusive or of the bits of each stored row and column of a part: finds and restores a changed element exactly.
 */
struct hs_parity {
    unsigned char *rows; /* an element per local row */
    unsigned char *cols; /* an element per local column */
};

/* Adds the bits of `rows` x `cols` elements of a part, as stored, whose first has local row `row` and is in column
 * `col` of part->matrix; both arrays are zeroed by the caller. */
void hs_parity_add(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t row, int64_t col,
                   int64_t rows, int64_t cols, struct hs_parity *parity);

/* An element that has changed, and the exclusive or of its bits before and after. */
struct hs_flip {
    int64_t row, col; /* local, as stored */
    unsigned char bits[16];
    int alone_in_column; /* 0 if it may not be the only one, but is the only one in its row */
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
