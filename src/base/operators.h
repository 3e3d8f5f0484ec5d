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

#endif
