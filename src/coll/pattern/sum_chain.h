/*
 * Sums of several operands in memory as a chain of REDUCEs that an executor may fuse, because every kernel launch on a
 * device takes time.
 */
#ifndef HS_COLL_PATTERN_SUM_CHAIN_H
#define HS_COLL_PATTERN_SUM_CHAIN_H

#include "coll/schedule/registry.h"

/*
 * dst = ((operand[0] op operand[1]) op operand[2]) ... for two or more operands. Emits consecutive REDUCEs: the first
 * depends on `after`, each later one only on the previous one, so an executor may run them as one kernel. Only
 * operand[0] may overlap dst. Returns the last step, or -1 if count is 0.
 */
int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after);

#endif
