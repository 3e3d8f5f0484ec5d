/* The elements and operators of reductions: one table row per pair. */
#ifndef HS_BASE_OPERATORS_H
#define HS_BASE_OPERATORS_H

#include "base/scalar.h"

#include <hsumma_coll.h>

enum { HS_ELEMENTS = HSUMMA_INT64 + 1, HS_OPS = HSUMMA_MIN + 1 };

/* Bytes of an element; 0: there is no such element. */
size_t hs_element_size(hsumma_element element);
const char *hs_element_name(hsumma_element element);
const char *hs_op_name(hsumma_op op);
/* Of real elements, or of the parts of complex ones; without state. */
hs_combine hs_sum_float, hs_sum_double;
/* Without state.  NULL: there is no such operator for these elements. */
hs_combine *hs_operator_of(hsumma_element element, hsumma_op op);

#endif
