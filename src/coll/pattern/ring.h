/* The ring, shared by the allgather, van de Geijn's broadcast, the reduce-scatter and the allreduce. */
#ifndef HS_COLL_PATTERN_RING_H
#define HS_COLL_PATTERN_RING_H

#include "coll/schedule/registry.h"

/*
 * At the start rank r holds the parts [r, r + held(r, size)) of shape's vector, its own alone if held is NULL; at the
 * end it has all of them in OUT.
 * A part is passed only to a rank that lacks it.  A rank's own part is read from `own` (HS_IN, where it begins at 0, or
 * HS_OUT, at its offset), other parts that it holds from OUT.  The first SEND waits for step `after` (-1: none).
 */
void hs_emit_ring(struct hs_builder *builder, const struct hs_shape *shape, int (*held)(int rank, int size),
                  enum hs_slot own, int after);

/*
 * Every part's sum goes around the ring, from the rank behind its owner to its owner, who puts it to `sum`.  Returns
 * the step that this is done with, or the last SEND if the own part is empty; -1: there is nothing to do.
 */
int hs_emit_ring_sums(struct hs_builder *builder, const struct hs_shape *shape, struct hs_ref sum);

#endif
