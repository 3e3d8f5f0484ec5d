/*
 * Allreduce, node-aware parallel (NAP): all processes of a node have the sum of a group of nodes, and exchange it with
 * one other group each. At most one message per process between nodes, followed by one allreduce inside each node, thus
 * combines up to ppn groups.
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
 * Nodes with different numbers of ranks. `base` replaces ppn; r is the number of ranks of the smallest node. A group of
 * g subgroups is joint if one of its nodes has only g - 1 ranks. In a joint group the idle process replaces local rank
 * g-1, also on nodes with more ranks, so that all nodes bracket alike. On a node of subgroup s < g-1 the idle process s
 * sends to subgroup g-1. Local rank g-2 receives the sums of subgroups g-2 (unless s = g-2) and g-1, and adds the two
 * before the allreduce of local ranks 0 .. g-2. A node of subgroup g-1 has no idle process; its local rank g-2 adds the
 * node's own sum to the one received. Therefore base may be r + 1, and no process sends more than ceil(log_base n)
 * times. A joint group has no idle process left for longer subgroups, so its subgroups must have equal sizes. base is r
 * if some joint group would have unequal subgroups, or if r + 1 saves no step. With r = 1 there would be as many steps
 * as in SMP, which is used instead.
 *
 * Cost for m bytes, with L = ceil(log_ppn n):
 *
 *     (L + 1) log2(ppn) (alpha_l + beta_l m) + L (alpha + max(ppn m / R_N, m / R_b)) + (L + 1) log2(ppn) m gamma
 *
 * A node sends at most R_N bytes per second, and a process R_b. Scratch memory: three vectors and that of a stage.
 * Bienz, Olson and Gropp, Node-Aware Improvements to Allreduce (2019), Section III.
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
    int joint;         /* true if a node of the group has only groups - 1 ranks */
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

static int fewest_ranks(const struct hs_division *nodes, int first, int size)
{
    int fewest = hs_division_size(nodes, first);
    for (int i = first + 1; i < first + size && !nodes->even; i++)
        fewest = hs_division_size(nodes, i) < fewest ? hs_division_size(nodes, i) : fewest;
    return fewest;
}

static int steps_for(int nodes, int base)
{
    int steps = 0;
    for (int64_t reach = 1; reach < nodes; reach *= base)
        steps++;
    return steps;
}

/* The maximum number of nodes of a subgroup in a step, counted from 0: base^step. */
static int64_t reach_of(int base, int step)
{
    return step > 0 ? base * reach_of(base, step - 1) : 1;
}

/* True if nodes [first, first + size) can combine their sums in `steps` steps: no joint group has unequal subgroups. */
static int can_combine(const struct hs_division *nodes, int base, int steps, int first, int size)
{
    if (!steps)
        return 1;
    struct group group = divide(first, size, reach_of(base, steps - 1), first);
    if (group.long_groups && fewest_ranks(nodes, first, size) < group.groups)
        return 0;
    for (int i = 0; i < group.groups; i++)
        if (!can_combine(nodes, base, steps - 1, group_node(&group, i, 0), group_size(&group, i)))
            return 0;
    return 1;
}

/* The maximum number of subgroups of a group. */
static int base_of(const struct hs_division *nodes)
{
    int fewest = fewest_ranks(nodes, 0, nodes->parts), steps = steps_for(nodes->parts, fewest + 1);
    int more = !nodes->even && steps < steps_for(nodes->parts, fewest) &&
               can_combine(nodes, fewest + 1, steps, 0, nodes->parts);
    return fewest + more;
}

/* Sets group[] to this node's group in each step between nodes, the last with all nodes; returns their number. */
static int steps_of(const struct hs_division *nodes, int node, struct group *group)
{
    int base = base_of(nodes), steps = steps_for(nodes->parts, base), first = 0, size = nodes->parts;
    for (int i = steps - 1; i >= 0; i--) {
        group[i] = divide(first, size, reach_of(base, i), node);
        group[i].joint = fewest_ranks(nodes, first, size) < group[i].groups;
        first = group_node(&group[i], group[i].own, 0);
        size = group_size(&group[i], group[i].own);
    }
    return steps;
}

/* A step's messages of a rank: the nodes and their local ranks; node -1: no message. */
struct nap_messages {
    struct nap_peer {
        int node, local;
    } to, from, last; /* last: a second message received, from the last subgroup of a joint group */
};

static struct nap_messages messages_of(const struct group *group, int me)
{
    int own = group->own, lacking = me < group->groups && group->position >= group_size(group, me);
    struct nap_messages messages = {{-1, own}, {-1, lacking ? me : own}, {-1, own}};
    if (me < group->groups && me != own)
        messages.from.node = lacking ? group_node(group, me, own) : group_node(group, me, group->position);
    if (me == own && own >= group->long_groups && group->position < group->long_groups)
        messages.to.node = group_node(group, group->position, group->each);
    if (messages.from.node >= 0 && !lacking)
        messages.to.node = messages.from.node;
    return messages;
}

/* As messages_of, for a joint group. */
static struct nap_messages joint_messages_of(const struct group *group, int me)
{
    int own = group->own, last = group->groups - 1;
    struct nap_messages messages = {{-1, own < last ? own : last - 1}, {-1, own < last ? own : me}, {-1, own}};
    if (me >= last)
        return messages;
    messages.to.node = group_node(group, me == own ? last : me, group->position);
    if (me != own)
        messages.from.node = group_node(group, me, group->position);
    if (me == last - 1 && own < last)
        messages.last.node = group_node(group, last, group->position);
    return messages;
}

static int receive(struct hs_builder *builder, const struct hs_division *nodes, struct nap_peer from,
                   struct hs_ref into, int64_t bytes, int after)
{
    return from.node < 0 ? -1 : hs_emit_recv(builder, hs_part_rank(nodes, from.node, from.local), into, bytes, after);
}

/*
 * Emits a step's messages of this rank, from stage->in. Afterwards stage->in is this rank's operand of the allreduce:
 * stage->in as before, or `theirs`. `free` is scratch memory. stage->after becomes the step that completes the
 * messages.
 */
static void exchange(struct hs_builder *builder, const struct hs_two_levels *on, const struct group *group,
                     struct hs_ref theirs, struct hs_ref free, struct hs_stage *stage)
{
    const struct hs_division *nodes = on->division;
    struct nap_messages messages = group->joint ? joint_messages_of(group, on->me) : messages_of(group, on->me);
    struct hs_ref sum = stage->in;
    int64_t bytes = stage->bytes;
    int send = -1, after = stage->after;
    if (messages.to.node >= 0)
        send = hs_emit_send(builder, hs_part_rank(nodes, messages.to.node, messages.to.local), sum, bytes, after);
    int from = receive(builder, nodes, messages.from, theirs, bytes, after);
    int last = receive(builder, nodes, messages.last, free, bytes, after);
    int both = hs_emit_both(builder, send, hs_emit_both(builder, from, last));
    stage->after = both < 0 ? after : both;
    stage->in = from < 0 ? sum : theirs;
    if (group->joint && on->me == group->groups - 2) { /* adds the sums of the last two subgroups */
        stage->after = hs_emit_reduce(builder, theirs, stage->in, last < 0 ? sum : free, bytes, stage->after);
        stage->in = theirs;
    }
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
    const struct hs_division *nodes = shape->topology ? &shape->topology->division[shape->with.level] : NULL;
    (void)alg;
    return nodes && !nodes->even && fewest_ranks(nodes, 0, nodes->parts) == 1
               ? "a node has one rank and another has more"
               : NULL;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_two_levels on = hs_two_levels(builder, shape);
    struct group group[MOST_EXCHANGES];
    struct hs_ref sum = hs_scratch(0), next = hs_scratch(shape->bytes), theirs = hs_scratch(2 * shape->bytes);
    int64_t scratch = 0;

    if (!on.nodes) /* no memory */
        return;
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
    int steps = steps_of(on.division, on.node, group);
    stage.stages = 2 * steps + 1;
    stage.direct = steps == 0;
    stage.out = steps ? sum : hs_out(0);
    stage.after = combine(builder, shape, &on, on.members, &stage);
    for (int i = 0; i < steps; i++) {
        if (group[i].groups == 1)
            continue;
        stage.in = sum;
        exchange(builder, &on, &group[i], theirs, next, &stage);
        stage.out = i == steps - 1 ? hs_out(0) : next;
        stage.number = 2 * i + 1;
        stage.after = combine(builder, shape, &on, group[i].groups - group[i].joint, &stage);
        next = sum;
        sum = stage.out;
    }
}

HS_ALG(HS_ALLREDUCE, allreduce_nap, "nap", .build = build, .unfit = unfit, .fallback = &hs_alg_allreduce_smp,
       .flags = HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEVEL,
       .doc = "ceil(log_ppn n) steps between nodes, in which the ranks of a node exchange with different nodes; Bienz, "
              "Olson and Gropp (2019), Section III");
