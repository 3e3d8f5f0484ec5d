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
#include "coll/schedule/builders.h"

void hs_build_reduce_shared(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_shared_sum(builder, shape, shape->size, shape->root);
}
