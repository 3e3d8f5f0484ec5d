/* The ring, shared by allgather, reduce-scatter, allreduce and van de Geijn's broadcast. */
#ifndef HS_COLL_PATTERN_RING_H
#define HS_COLL_PATTERN_RING_H

#include "coll/schedule/registry.h"

/*
 * Ring allgather of the parts of shape's vector into OUT. At the start rank r holds parts [r, r + held(r, size)), or
 * only its own if held is NULL; a part is passed only to a rank that lacks it. A rank's own part is read from `own`
 * (HS_IN, where it begins at 0, or HS_OUT, at its offset), other parts from OUT. The first SEND depends on `after` (-1:
 * none).
 */
void hs_emit_ring(struct hs_builder *builder, const struct hs_shape *shape, int (*held)(int rank, int size),
                  enum hs_slot own, int after);

/*
 * Ring reduce-scatter: every part's sum travels around the ring, from the rank after its owner to the owner, which
 * writes it to `sum`. Returns the step that does so, or the last SEND if the rank's part is empty; -1 if there is
 * nothing to do.
 */
int hs_emit_ring_sums(struct hs_builder *builder, const struct hs_shape *shape, struct hs_ref sum);

#endif
