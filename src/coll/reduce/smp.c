/*
 * Reduction, SMP: the ranks of every node reduce to their leader, the leaders reduce to the root, which leads its own
 * node.  The order of the sums is that of the ranks if every node's ranks are contiguous, and the bracketing is the
 * same for every root.
 *
 * Cost: log2(ppn) (alpha_l + beta_l m) + log2(n) (alpha + beta m) + log2(p) m gamma with the default stages and powers
 * of two.  Scratch: one vector and that of a stage.  The first half of Bienz, Olson and Gropp (2019), Section II-A.
 */
#include "coll/pattern/stages.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_two_levels on = hs_two_levels(builder, shape);
    struct hs_ref sum = on.members > 1 ? hs_scratch(0) : hs_in(0);
    struct hs_stage inside = {.collective = HS_REDUCE_TO,
                              .rank = on.member,
                              .size = on.members,
                              .me = on.me,
                              .root = on.leader_place,
                              .bytes = shape->bytes,
                              .in = hs_in(0),
                              .out = on.nodes > 1 ? sum : hs_out(0),
                              .direct = 1,
                              .stages = 2,
                              .after = -1};
    struct hs_stage between = {.collective = HS_REDUCE_TO,
                               .between = 1,
                               .rank = on.leader,
                               .size = on.nodes,
                               .me = on.leads,
                               .root = on.root_node,
                               .bytes = shape->bytes,
                               .in = sum,
                               .out = hs_out(0),
                               .number = 1,
                               .stages = 2};
    int64_t scratch = shape->bytes, later = scratch;

    between.after = hs_emit_stage(builder, shape, &inside, &scratch);
    if (on.nodes > 1)
        hs_emit_stage(builder, shape, &between, &later);
}

HS_ALG(HS_REDUCE_TO, reduce_smp, "smp", .build = build,
       .flags = HS_TRUE_ROOT | HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEVEL | HS_USES_OUTER |
                HS_USES_INNER,
       .doc = "inside every node to its leader, then over the leaders: (log2 ppn + log2 n) steps");
