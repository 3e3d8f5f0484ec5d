/*
 * Sums of several operands in memory as a chain of REDUCEs that an executor may fuse: for devices, where each launch
 * costs.
 */
#ifndef HS_COLL_PATTERN_SUM_CHAIN_H
#define HS_COLL_PATTERN_SUM_CHAIN_H

#include "coll/schedule/registry.h"

/*
 * dst = ((operand[0] op operand[1]) op operand[2]) ... for two or more operands. Emits consecutive REDUCEs: the first
 * depends on `after`, each other one only on the previous one, so an executor may do them as one. Only operand[0] may
 * overlap dst. Returns the last step, or -1 if count is 0.
 */
int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after);

#endif
