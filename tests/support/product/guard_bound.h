/* What guard=product must find, by the documented bound, computed apart from the library's. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GUARD_BOUND_H
#define HS_TESTS_SUPPORT_PRODUCT_GUARD_BOUND_H

#include "support/product/gemm_case.h"

/* Whether a checksum of C differs from the reference's by more than a check may overlook: twice the bound of
 * doc/trust.md, because what a check sees contains rounding errors, too.  plan: NULL on ranks outside its grid.
 * Collective over all ranks. */
int guard_exceeds(const hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part *local,
                  const struct gemm_part *reference);

#endif
