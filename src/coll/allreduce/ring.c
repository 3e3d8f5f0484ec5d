/*
 * Allreduce, ring: the ring reduce-scatter, then the ring allgather. For commutative operations only.
 *
 * Cost: 2(q - 1)(alpha + m/q beta) + (1 - 1/q) m gamma for equal parts. Scratch memory: three parts. Patarasuk and
 * Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations (2009).
 */
#include "coll/pattern/ring.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int done = hs_emit_ring_sums(builder, shape, hs_out(hs_part_at(shape, shape->rank)));
    hs_emit_ring(builder, shape, NULL, HS_OUT, done);
}

HS_ALG(HS_ALLREDUCE, allreduce_ring, "ring", .build = build,
       .doc = "ring reduce-scatter and allgather: 2(q-1)(alpha + m/q beta) + (1 - 1/q) m gamma");
