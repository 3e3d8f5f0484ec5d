/*
 * The rows "smp" of reduce and allreduce: the ranks of every node reduce to their leader, the leaders perform the
 * collective among themselves, and in an allreduce every leader broadcasts inside its node. The root of a reduction is
 * the leader of its node. Only leaders send between nodes, so a node's link carries the messages of one rank; the
 * other ranks are idle meanwhile. On one node only the stage inside it runs. Sums are in rank order if every node's
 * ranks are contiguous, and bracketed alike for every root.
 *
 * Cost with binomial trees and recursive doubling, for powers of two: log2(ppn) (alpha_l + beta_l m), for allreduce
 * twice that, + log2(n) (alpha + beta m) + log2(p) m gamma. Scratch memory: one vector and that of a stage. Bienz,
 * Olson and Gropp, Node-Aware Improvements to Allreduce (2019), Section II-A; the reduction is its first half.
 */
#include "coll/pattern/stages.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_two_levels on = hs_two_levels(builder, shape);
    enum hs_collective collective = builder->alg->collective;
    int to_all = collective == HS_ALLREDUCE;
    struct hs_stage inside = hs_stage_inside(&on, shape, on.nodes > 1 ? HS_REDUCE_TO : collective);
    struct hs_stage between = hs_stage_between(&on, shape, collective);
    int64_t scratch[3] = {shape->bytes, shape->bytes, shape->bytes};

    /* A stage must not write where it reads, so the node's sum has separate memory. */
    between.in = on.members > 1 ? hs_scratch(0) : hs_in(0);
    between.out = hs_out(0);
    between.number = 1;
    inside.in = hs_in(0);
    inside.out = on.nodes > 1 ? between.in : hs_out(0);
    inside.direct = 1;
    inside.stages = between.stages = to_all ? 3 : 2;
    between.after = hs_emit_stage(builder, shape, &inside, &scratch[0]);
    if (on.nodes < 2)
        return;
    inside.after = hs_emit_stage(builder, shape, &between, &scratch[1]);
    inside.collective = HS_BCAST;
    inside.out = hs_out(0);
    inside.number = 2;
    if (to_all)
        hs_emit_stage(builder, shape, &inside, &scratch[2]);
}

#define FLAGS (HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER)
HS_ALG(HS_REDUCE_TO, reduce_smp, "smp", .build = build, .flags = HS_TRUE_ROOT | FLAGS,
       .doc = "reduction inside each node to its leader, then among the leaders: (log2 ppn + log2 n) steps");
HS_ALG(HS_ALLREDUCE, allreduce_smp, "smp", .build = build, .flags = FLAGS,
       .doc = "reduction to each node's leader, allreduce among the leaders, broadcast inside the nodes; Bienz, Olson "
              "and Gropp (2019), Section II-A");
