/*
 * Reduction to the root on one node, over shared memory.  Up to b bytes, the others put their vectors into their SHARED
 * and the root sums them.  Longer vectors go chunk by chunk: every rank sums its part of each chunk and the root copies
 * the parts out.  Both sum in the order of the ranks, ((0 + 1) + 2) + ..., whatever the root.
 *
 * Cost with s chunks: up to b one signal per rank, m bytes copied by each of the others and (p-1) m summed by the root;
 * else s + 1 signals, (1 - 1/p) m bytes copied and (1 - 1/p) m summed per rank, and (1 - 1/p) m more copied by the
 * root. The contributions need no copy when peers' IN can be read.
 */
#include "coll/pattern/shared_sum.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_shared_sum(builder, shape, shape->size, shape->root);
}

HS_ALG(HS_REDUCE_TO, reduce_shared, "shared", .build = build, .unfit = hs_unfit_shared,
       .flags = HS_TRUE_ROOT | HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_USES_THRESHOLD,
       .doc = "one node: every rank reduces its part of what all have put into shared memory");
