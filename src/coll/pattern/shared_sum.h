/* Sums over the ranks of one node, in shared memory: what the rows "shared" of allreduce and reduce have in common. */
#ifndef HS_COLL_PATTERN_SHARED_SUM_H
#define HS_COLL_PATTERN_SHARED_SUM_H

#include "coll/schedule/registry.h"

/*
 * Sums IN of the ranks 0 .. contributors - 1 (1 <= contributors <= size), in this order, ((0 + 1) + 2) + ...; the
 * others contribute nothing and need no IN, but take part in the work.  OUT becomes the sum on rank `taker` (true
 * rank), or on all ranks if taker is -1.
 *
 * All ranks call it with the same arguments, apart from shape->rank.  SHARED may still be read by peers when the list
 * of its owner ends: a stage that follows in the same list must not write there, unless something else tells that
 * all peers have finished this one.
 */
void hs_emit_shared_sum(struct hs_builder *builder, const struct hs_shape *shape, int contributors, int taker);

#endif
