/*
 * Allreduce as a reduction to rank 0 and a broadcast, each by any row (parameter inner for the reduction, outer for
 * the broadcast); the default is binomial, or "shared" if all ranks are on one node with shared memory. The order of
 * sums is that of the reduction.
 *
 * Cost: that of both stages; 2 ceil(log2 q)(alpha + m beta) + ceil(log2 q) m gamma if both are binomial.
 */
#include "coll/pattern/stages.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int *rank = hs_builder_get(builder, (size_t)shape->size, sizeof *rank);
    for (int i = 0; rank && i < shape->size; i++)
        rank[i] = i;
    struct hs_stage stage = {.collective = HS_REDUCE_TO,
                             .rank = rank,
                             .size = shape->size,
                             .me = shape->rank,
                             .bytes = shape->bytes,
                             .in = hs_in(0),
                             .out = hs_out(0),
                             .direct = 1,
                             .stages = 2,
                             .after = -1};
    /* Stages inside a node, so that both may use the topology: outer is therefore with.inner of the second. */
    struct hs_shape second = *shape;
    int64_t scratch = 0;

    stage.after = hs_emit_stage(builder, shape, &stage, &scratch);
    second.with.inner = shape->with.outer;
    stage.collective = HS_BCAST;
    stage.number = 1;
    hs_emit_stage(builder, &second, &stage, &scratch);
}

HS_ALG(HS_ALLREDUCE, allreduce_reduce_bcast, "reduce_bcast", .build = build,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_USES_OUTER | HS_USES_INNER,
       .doc = "reduction to rank 0 (inner), then broadcast (outer); both binomial by default");
