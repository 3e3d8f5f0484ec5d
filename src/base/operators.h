/* Element types and operators of reductions: one table row per element type. */
#ifndef HS_BASE_OPERATORS_H
#define HS_BASE_OPERATORS_H

#include "base/scalar.h"

#include <hsumma_coll.h>

enum { HS_ELEMENTS = HSUMMA_INT64 + 1, HS_OPS = HSUMMA_MIN + 1 };

/* Bytes of an element; 0 for an unknown element type. */
size_t hs_element_size(hsumma_element element);
const char *hs_element_name(hsumma_element element);
const char *hs_op_name(hsumma_op op);
/* Sums of real elements, or of the real and imaginary parts of complex ones.  Their state argument is unused. */
hs_combine hs_sum_float, hs_sum_double;
/* The operator for an element type; NULL if there is none.  Its state argument is unused. */
hs_combine *hs_operator_of(hsumma_element element, hsumma_op op);

/*
 * Reductions of several operands at once whose bits depend on neither the order of the operands nor their number
 * (exact.c).
 *
 * A sum is the exact sum rounded once to nearest, ties to even, whatever the rounding mode. Sums that are zero are +0.
 * If an operand is NaN, or two are infinities of opposite sign, the result is the quiet NaN of zero payload and sign. A
 * sum becomes infinite only if the exact sum rounds to infinity. Complex sums are sums of parts. Sums of integers wrap.
 * In MAX and MIN -0 is less than +0, and the result is that NaN if any operand is NaN.
 *
 * Combines `operands` (at least one) vectors of `bytes` bytes, which follow one another in memory, to dst, which must
 * not overlap them. Returns 0; or -1, and does nothing, if hs_operator_of has no such operator.
 */
int hs_reduce_exactly(hsumma_element element, hsumma_op op, void *dst, const void *vectors, int operands,
                      int64_t bytes);

#endif
