/* The ring, shared by allgather, reduce-scatter, allreduce and van de Geijn's broadcast. */
#ifndef HS_COLL_PATTERN_RING_H
#define HS_COLL_PATTERN_RING_H

#include "coll/schedule/registry.h"

/*
 * Ring allgather of the parts of shape's vector into OUT. At the start rank r has parts [r, r + held(r, size)), modulo
 * size, or only its own if held is NULL; a part is sent only to a rank that lacks it. A rank's own part is read from
 * `own` (HS_IN, where it begins at 0, or HS_OUT, at its offset), other parts from OUT. The first SEND depends on
 * `after`, unless it is -1.
 */
void hs_emit_ring(struct hs_builder *builder, const struct hs_shape *shape, int (*held)(int rank, int size),
                  enum hs_slot own, int after);

/*
 * Ring reduce-scatter: the partial sum of every part is sent around the ring, from the rank after the part's owner to
 * the owner, which writes the sum to `sum`. Returns the step that writes it, or the last SEND if the rank's part is
 * empty; -1 if there is neither.
 */
int hs_emit_ring_sums(struct hs_builder *builder, const struct hs_shape *shape, struct hs_ref sum);

#endif
