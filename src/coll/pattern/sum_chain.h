/* Sums of what several ranks have put into memory, in one go: for devices, where each piece of work has its price. */
#ifndef HS_COLL_PATTERN_SUM_CHAIN_H
#define HS_COLL_PATTERN_SUM_CHAIN_H

#include "coll/schedule/registry.h"

/*
 * dst = ((operand[0] op operand[1]) op operand[2]) ..., by REDUCEs right behind each other, the first after `after` and
 * each other one after the one before it; two operands at least.  An executor may do them all as one step.  No operand
 * but the first may overlap dst.  Returns the last step, -1 if count is 0.
 */
int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after);

#endif
