/* Sums in the memory of one rank: what the rows "shared_buffer" of allreduce and reduce have in common. */
#ifndef HS_COLL_PATTERN_SHARED_BUFFER_H
#define HS_COLL_PATTERN_SHARED_BUFFER_H

#include "coll/schedule/registry.h"

/*
 * The shared buffer is the SHARED of rank `owner` (true rank).  OUT becomes the sum on the owner, and on all ranks if
 * `everybody` is true.  The builder fails where hs_unfit_buffer has a reason.
 */
void hs_emit_shared_buffer(struct hs_builder *builder, const struct hs_shape *shape, int owner, int everybody);
/* Why the shared memory of one rank cannot serve; NULL: it can. */
const char *hs_unfit_buffer(const struct hs_shape *shape, int everybody);

#endif
