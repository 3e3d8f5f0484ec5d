/*
 * Reduce-scatter, ring: the partial sum of every part is sent once around the ring, and ends at the part's owner; every
 * rank adds its contribution. The sums of different parts start at different ranks, so the operation must commute.
 *
 * Cost: (q - 1)(alpha + m/q (beta + gamma)) for equal parts. Scratch memory: three times the longest part.
 */
#include "coll/pattern/ring.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_ring_sums(builder, shape, hs_out(0));
}

HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_ring, "ring", .build = build,
       .doc = "partial sums travel once around the ring: (q-1)(alpha + m/q (beta + gamma))");
