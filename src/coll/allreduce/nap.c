/*
 * Allreduce, node-aware parallel (NAP): all processes of a node have the sum of a group of nodes, and each of them
 * exchanges it with another group. One message per process between nodes, followed by one allreduce inside each node,
 * thus combines up to ppn groups.
 *
 * In step i a group of h nodes is divided into as few subgroups of at most ppn^(i-1) nodes as possible, g = ceil(h /
 * ppn^(i-1)), of sizes q and q + 1, the longer ones first. On the node at position t of subgroup s, local rank j (j !=
 * s, j < g) exchanges with local rank s of the node at position t of subgroup j; local rank s keeps its own sum and is
 * idle. The last node of a longer subgroup has no counterpart in the shorter ones: it receives the sum of subgroup j
 * from the idle process of the node at position s of subgroup j. That process exists and serves no other node: there
 * are at most g - 1 longer subgroups, and q >= g - 1, since h > (g - 1) ppn^(i-1) and ppn^(i-1) >= g in every step but
 * the first, where all sizes are 1. No process therefore sends more than once in a step, nor more than ceil(log_ppn n)
 * times in total, for any number n of nodes. After the messages of a step, local ranks 0 .. g-1 of every node perform
 * an allreduce, in the order of the subgroups, and broadcast the sum to the other local ranks. All nodes bracket alike,
 * so all ranks get the same bits.
 *
 * Cost, with L = ceil(log_ppn n): (L + 1) log2(ppn) (alpha_l + beta_l m) + L (alpha + max(ppn m / R_N, m / R_b)) + (L +
 * 1) log2(ppn) m gamma, where a node sends at most R_N bytes per second and a process R_b. Scratch memory: three
 * vectors and that of a stage. Bienz, Olson and Gropp, Node-Aware Improvements to Allreduce (2019), Section III.
 */
#include "coll/pattern/stages.h"
#include "coll/schedule/rows.h"

enum { MOST_EXCHANGES = 31 };

/* A group of nodes in a step, as seen from this rank's node. */
struct group {
    int first, size; /* nodes first .. first + size - 1 */
    /* groups: number of subgroups; the first long_groups of them have each + 1 nodes, the others `each`. */
    int groups, long_groups;
    int each;
    int own, position; /* own: this node's subgroup; position: this node's position in it */
};

static int group_size(const struct group *group, int i)
{
    return group->each + (i < group->long_groups);
}

static int group_node(const struct group *group, int i, int position)
{
    int longer = i < group->long_groups ? i : group->long_groups;
    return group->first + i * group->each + longer + position;
}

/* Divides nodes [first, first + size) into subgroups of at most `most` nodes; `node` is this rank's node. */
static struct group divide(int first, int size, int64_t most, int node)
{
    struct group group = {.first = first, .size = size, .groups = (int)((size + most - 1) / most)};
    group.each = size / group.groups;
    group.long_groups = size % group.groups;
    while (group_node(&group, group.own, group_size(&group, group.own)) <= node)
        group.own++;
    group.position = node - group_node(&group, group.own, 0);
    return group;
}

/*
 * Returns the number of steps between nodes, and sets group[] to this node's group in each step; the last group
 * contains all nodes.
 */
static int steps_of(const struct hs_two_levels *on, struct group *group)
{
    int64_t reach[MOST_EXCHANGES + 1] = {1};
    int steps = 0, first = 0, size = on->nodes;
    for (; reach[steps] < on->nodes; steps++)
        reach[steps + 1] = reach[steps] * on->members;
    for (int i = steps - 1; i >= 0; i--) {
        group[i] = divide(first, size, reach[i], on->node);
        first = group_node(&group[i], group[i].own, 0);
        size = group_size(&group[i], group[i].own);
    }
    return steps;
}

/*
 * Emits a step's messages of this rank, from `sum` and into `theirs`. Returns the step after which they are complete.
 */
static int exchange(struct hs_builder *builder, const struct hs_shape *shape, const struct group *group, int me,
                    struct hs_ref sum, struct hs_ref theirs, int after)
{
    const struct hs_division *nodes = &shape->topology->division[shape->with.level];
    int own = group->own, lacking = me < group->groups && group->position >= group_size(group, me);
    int to = -1, from = -1; /* nodes to send to and receive from; -1 if none */
    if (me < group->groups && me != own)
        from = lacking ? group_node(group, me, own) : group_node(group, me, group->position);
    if (me == own && own >= group->long_groups && group->position < group->long_groups)
        to = group_node(group, group->position, group->each);
    if (from >= 0 && !lacking)
        to = from;
    int send = -1, receive = -1;
    if (to >= 0)
        send = hs_emit_send(builder, hs_division_ranks(nodes, to)[own], sum, shape->bytes, after);
    if (from >= 0)
        receive =
            hs_emit_recv(builder, hs_division_ranks(nodes, from)[lacking ? me : own], theirs, shape->bytes, after);
    int both = hs_emit_both(builder, send, receive);
    return both < 0 ? after : both;
}

/* Sums stage->in of local ranks 0 .. groups-1 inside the node, into stage->out of all local ranks. */
static int combine(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_two_levels *on, int groups,
                   struct hs_stage *stage)
{
    int64_t scratch = 3 * shape->bytes, later = scratch;
    stage->collective = HS_ALLREDUCE;
    stage->rank = on->member;
    stage->size = groups;
    stage->me = on->me < groups ? on->me : -1;
    stage->after = hs_emit_stage(builder, shape, stage, &scratch);
    stage->number++;
    if (groups == on->members)
        return stage->after;

    int *rank = hs_builder_get(builder, (size_t)on->members, sizeof *rank);
    if (!rank)
        return -1;
    stage->collective = HS_BCAST;
    stage->rank = rank;
    stage->size = 0;
    stage->me = on->me / groups;
    for (int i = on->me % groups; i < on->members; i += groups)
        rank[stage->size++] = on->member[i];
    return hs_emit_stage(builder, shape, stage, &later);
}

static const char *unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    (void)alg;
    return shape->topology && !shape->topology->division[shape->with.level].even
               ? "the nodes have different numbers of ranks"
               : NULL;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_two_levels on = hs_two_levels(builder, shape);
    struct group group[MOST_EXCHANGES];
    struct hs_ref sum = hs_scratch(0), next = hs_scratch(shape->bytes), theirs = hs_scratch(2 * shape->bytes);
    int64_t scratch = 0;

    if (on.members == 1) {
        struct hs_shape pairs = *shape;
        struct hs_stage stage = hs_stage_between(&on, shape, HS_ALLREDUCE);
        pairs.with.outer = &hs_alg_allreduce_recursive_doubling;
        stage.in = hs_in(0);
        stage.out = hs_out(0);
        stage.direct = stage.stages = 1;
        hs_emit_stage(builder, &pairs, &stage, &scratch);
        return;
    }
    struct hs_stage stage = {.bytes = shape->bytes, .in = hs_in(0), .after = -1};
    int steps = steps_of(&on, group);
    stage.stages = 2 * steps + 1;
    stage.direct = steps == 0;
    stage.out = steps ? sum : hs_out(0);
    stage.after = combine(builder, shape, &on, on.members, &stage);
    for (int i = 0; i < steps; i++) {
        if (group[i].groups == 1)
            continue;
        int after = exchange(builder, shape, &group[i], on.me, sum, theirs, stage.after);
        stage.in = on.me == group[i].own ? sum : theirs;
        stage.out = i == steps - 1 ? hs_out(0) : next;
        stage.number = 2 * i + 1;
        stage.after = after;
        stage.after = combine(builder, shape, &on, group[i].groups, &stage);
        next = sum;
        sum = stage.out;
    }
}

HS_ALG(HS_ALLREDUCE, allreduce_nap, "nap", .build = build, .unfit = unfit, .fallback = &hs_alg_allreduce_smp,
       .flags = HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEVEL,
       .doc = "ceil(log_ppn n) steps between nodes, in which every rank of a node exchanges with another node; Bienz, "
              "Olson and Gropp (2019), Section III");
