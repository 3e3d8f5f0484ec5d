/*
 * Reduce-scatter on one node: every rank adds up its part out of all ranks' IN, where they are, into its OUT: the first
 * half of allreduce "spread".  Needs that ranks can read each other's memory.
 *
 * Cost per rank: one REDUCE of q vectors, (1 - 1/q) m read and summed if parts are equal, 2 signals.
 */
#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t at = hs_part_at(shape, shape->rank), count = hs_part_at(shape, shape->rank + 1) - at;
    hs_expose(builder);
    int first = hs_emit_signal(builder, 1);
    int summed = hs_emit_sum_of_all(builder, shape, hs_out(0), at, count, hs_emit_wait_all(builder, shape, 1, first));
    int last = hs_emit_signal(builder, 2);
    hs_after(builder, last, first);
    hs_after(builder, last, summed);
    hs_emit_wait_all(builder, shape, 2, last); /* nobody reads IN any longer */
}

HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_spread, "spread", .build = build, .unfit = hs_unfit_spread,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: every rank reduces its part of all ranks' vectors, read where they are");
