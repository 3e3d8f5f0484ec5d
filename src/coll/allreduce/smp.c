/*
 * Allreduce, SMP: the ranks of every node reduce to their leader, the leaders do an allreduce, every leader broadcasts
 * inside its node.  Only leaders send between nodes, so no node's link carries a vector twice; the other ranks idle.
 * On one node: an allreduce inside it.
 *
 * Cost: 2 log2(ppn) (alpha_l + beta_l m) + log2(n) (alpha + beta m) + log2(p) m gamma with the default stages and
 * powers of two.  Scratch: one vector and that of a stage.  Bienz, Olson and Gropp, Node-Aware Improvements to
 * Allreduce (2019), Section II-A.
 */
#include "coll/pattern/stages.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_two_levels on = hs_two_levels(builder, shape);
    /* A stage must not write where it reads, hence a place for the node's sum. */
    struct hs_ref sum = on.members > 1 ? hs_scratch(0) : hs_in(0);
    struct hs_stage inside = {.collective = on.nodes > 1 ? HS_REDUCE_TO : HS_ALLREDUCE,
                              .rank = on.member,
                              .size = on.members,
                              .me = on.me,
                              .bytes = shape->bytes,
                              .in = hs_in(0),
                              .out = on.nodes > 1 ? sum : hs_out(0),
                              .direct = 1,
                              .stages = 3,
                              .after = -1};
    struct hs_stage between = {.collective = HS_ALLREDUCE,
                               .between = 1,
                               .rank = on.leader,
                               .size = on.nodes,
                               .me = on.leads,
                               .bytes = shape->bytes,
                               .in = sum,
                               .out = hs_out(0),
                               .number = 1,
                               .stages = 3};
    int64_t scratch = shape->bytes, later = scratch;

    between.after = hs_emit_stage(builder, shape, &inside, &scratch);
    if (on.nodes < 2)
        return;
    inside.after = hs_emit_stage(builder, shape, &between, &later);
    inside.collective = HS_BCAST;
    inside.out = hs_out(0);
    inside.number = 2;
    scratch = shape->bytes;
    hs_emit_stage(builder, shape, &inside, &scratch);
}

HS_ALG(HS_ALLREDUCE, allreduce_smp, "smp", .build = build,
       .flags = HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER,
       .doc = "to the node's leader, allreduce over the leaders, broadcast inside; Bienz, Olson and Gropp (2019), "
              "Section II-A");
