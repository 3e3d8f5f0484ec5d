/*
 * Reduce-scatter, node-aware: for each of the other nodes, the ranks of a node sum the parts that this other node
 * needs, and send it the sums in one message; each rank then sums its part over the nodes. The ranks of a node divide
 * the other nodes evenly among them. Works for any placement of ranks, nodes of any size, and parts that differ in
 * length or are empty. Inside a node it uses shared memory if the vector and the received sums fit, else messages. Sums
 * are bracketed as a binary tree over the ranks of a node, then over the nodes.
 *
 * Cost with n nodes of ppn ranks: between nodes ceil((n - 1)/ppn) alpha + (n - 1)/n (m/ppn) beta if every rank has a
 * link, and ppn times the bytes if the ranks of a node share one. Every rank sums (ppn - 1) m/ppn + (n - 1) m/(n ppn)
 * bytes; without shared memory it sends about as many inside the node, in (1 + 2 ceil((n - 1)/ppn))(ppn - 1) messages.
 * Scratch memory: a few times a node's share of the vector; without shared memory also about m/ppn bytes, and one more
 * vector unless every node's ranks are contiguous.
 */
#include "coll/pattern/node_map.h"
#include "coll/pattern/sum_tree.h"
#include "coll/schedule/rows.h"

enum { CONTRIBUTED = 1, SUMS_RECEIVED = 2 }; /* signal values; that of wave w is SUMS_RECEIVED + w */

struct node_scatter {
    struct hs_builder *builder;
    struct hs_node_map map;
    struct hs_ref packed; /* this rank's vector in packed order */
    int ready;            /* step after which `packed` is complete */
    int shared;           /* true if shared memory is used inside the node */
    int *contributed;     /* step after which each rank's vector is in shared memory, indexed by place in the node */
    int sent;
    struct hs_ref received; /* buffer for sums from other nodes, in the order of the waves */
    /*
     * own: bytes of this rank's part. Offsets in SCRATCH: node_sum, of the sum for another node; place_sum, of the sum
     * of this rank's part over the node; local, of the buffers of sum_in_node.
     */
    int64_t own, node_sum, place_sum, local;
    /* The last step that uses node_sum or the buffers at `local`. */
    int after_local;
    struct hs_sum total; /* sum of this rank's part over the nodes */
};

/* Chooses the slot of the packed vector, and lays out SCRATCH. */
static void lay_out(struct node_scatter *s)
{
    const struct hs_node_map *map = &s->map;
    int64_t bytes = map->shape->bytes, node = hs_node_span(map, map->node).count, end = 0, longest = 0;
    for (int i = 0; i < map->nodes; i++)
        hs_raise_to(&longest, hs_node_span(map, i).count);
    s->shared = map->members > 1 && bytes <= map->shared_bytes && map->waves * node <= map->shared_bytes - bytes;
    s->packed = s->shared ? hs_shared(0) : map->division->contiguous ? hs_in(0) : hs_scratch(0);
    if (s->packed.slot == HS_SCRATCH)
        end = bytes;
    s->received = s->shared ? hs_shared(bytes) : hs_scratch(end);
    if (!s->shared)
        end += map->waves * node;
    s->place_sum = end;
    s->node_sum = end += s->own;
    end += longest;
    hs_sum_begin(&s->total, s->builder, map->nodes, s->own, hs_out(0), end, -1);
    s->local = end + hs_sum_most_buffers(map->nodes) * s->own;
}

static void put_in(struct node_scatter *s)
{
    if (s->packed.slot != HS_IN)
        for (int node = 0; node < s->map.nodes; node++)
            s->ready = hs_copy_node(s->builder, &s->map, node, 1, hs_in(0),
                                    hs_plus(s->packed, hs_node_span(&s->map, node).at), s->ready);
    if (!s->shared)
        return;
    hs_emit_signal_next(s->builder, CONTRIBUTED, s->ready, -1);
    for (int i = 0; i < s->map.members; i++)
        s->contributed[i] = i == s->map.me ? s->ready : hs_emit_wait(s->builder, s->map.member[i], CONTRIBUTED);
}

/* What a rank sums over its node: its own part if wave is -1, else the parts of another node. */
static struct hs_span share_of(const struct node_scatter *s, int wave, int place)
{
    if (wave < 0)
        return hs_member_span(&s->map, place);
    int to = hs_node_step(&s->map, wave, place).to;
    return to < 0 ? (struct hs_span){0, 0} : hs_node_span(&s->map, to);
}

/* Sums this rank's share over the node into `dst`. */
static int sum_in_node(struct node_scatter *s, int wave, struct hs_ref dst)
{
    const struct hs_node_map *map = &s->map;
    struct hs_span mine = share_of(s, wave, map->me);
    struct hs_sum sum;
    int sent = s->ready, n = map->members;
    hs_sum_begin(&sum, s->builder, n, mine.count, dst, s->local, s->after_local);
    if (mine.count > 0)
        hs_sum_add(&sum, map->me, hs_plus(s->packed, mine.at), s->ready);
    for (int i = 1; i < n; i++) {
        int to = (map->me - i + n) % n, from = (map->me + i) % n;
        struct hs_span its = share_of(s, wave, to);
        if (!s->shared)
            hs_emit_send_next(s->builder, map->member[to], hs_plus(s->packed, its.at), its.count, -1, &sent);
        if (mine.count > 0 && s->shared)
            hs_sum_add(&sum, from, hs_of(map->member[from], hs_plus(s->packed, mine.at)), s->contributed[from]);
        else if (mine.count > 0)
            hs_sum_receive(&sum, from, map->member[from]);
    }
    s->after_local = sum.total < 0 ? s->after_local : sum.total;
    return sum.total;
}

/* Sums this rank's part over its node. The result is added to the total or, with only one node, stored in OUT. */
static void own_node(struct node_scatter *s)
{
    struct hs_ref dst = s->map.nodes > 1 ? hs_scratch(s->place_sum) : hs_out(0);
    if (s->map.members == 1 && s->own > 0) {
        hs_sum_add(&s->total, s->map.node, hs_plus(s->packed, hs_member_span(&s->map, 0).at), s->ready);
        return;
    }
    int summed = sum_in_node(s, -1, dst);
    if (s->map.nodes > 1 && s->own > 0)
        hs_sum_add(&s->total, s->map.node, dst, summed);
}

/*
 * Emits a wave's sums inside the node, and sends this rank's share of them to the node that needs it. Returns the RECV
 * of another node's sums for this node, or -1 if the rank has no message in this wave.
 */
static int between_nodes(struct node_scatter *s, int wave, struct hs_ref dst)
{
    const struct hs_node_map *map = &s->map;
    struct hs_node_step step = hs_node_step(map, wave, map->me);
    struct hs_ref sum = hs_scratch(s->node_sum);
    int summed = s->ready;
    if (map->members > 1)
        summed = sum_in_node(s, wave, sum);
    if (step.to < 0)
        return -1;
    if (map->members == 1)
        sum = hs_plus(s->packed, hs_node_span(map, step.to).at);
    int send = hs_emit_send_next(s->builder, step.to_rank, sum, hs_node_span(map, step.to).count, summed, &s->sent);
    if (send >= 0 && map->members > 1)
        s->after_local = send; /* the SEND is the last reader of the sum */
    return hs_emit_recv(s->builder, step.from_rank, dst, hs_node_span(map, map->node).count, -1);
}

/* Emits one wave. The sums received from a node contain the parts of all ranks of this node, each of which gets its own
 * part. */
static void wave(struct node_scatter *s, int w)
{
    const struct hs_node_map *map = &s->map;
    int n = map->members, mine = hs_node_step(map, w, map->me).from;
    struct hs_span node = hs_node_span(map, map->node);
    int64_t own = hs_member_span(map, map->me).at - node.at;
    struct hs_ref in = hs_plus(s->received, w * node.count);
    int received = between_nodes(s, w, in), sent = received;
    if (s->shared && received >= 0)
        hs_emit_signal_next(s->builder, SUMS_RECEIVED + w, received, -1);
    if (mine >= 0 && s->own > 0)
        hs_sum_add(&s->total, mine, hs_plus(in, own), received);
    for (int i = 1; i < n; i++) {
        int to = (map->me - i + n) % n, place = (map->me + i) % n, from = hs_node_step(map, w, place).from;
        if (mine >= 0 && !s->shared) {
            struct hs_span its = hs_member_span(map, to);
            hs_emit_send_next(s->builder, map->member[to], hs_plus(in, its.at - node.at), its.count, -1, &sent);
        }
        if (from < 0 || s->own == 0)
            continue;
        if (s->shared) {
            int wait = hs_emit_wait(s->builder, map->member[place], SUMS_RECEIVED + w);
            hs_sum_add(&s->total, from, hs_of(map->member[place], hs_plus(in, own)), wait);
        } else {
            hs_sum_receive(&s->total, from, map->member[place]);
        }
    }
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct node_scatter s = {.builder = builder, .ready = -1, .sent = -1, .after_local = -1};
    if (hs_node_map(&s.map, builder, shape))
        return;
    s.contributed = hs_builder_get(builder, (size_t)s.map.members, sizeof *s.contributed);
    if (!s.contributed)
        return;
    s.own = hs_part_bytes(shape, shape->rank);
    lay_out(&s);
    put_in(&s);
    own_node(&s);
    for (int w = 0; w < s.map.waves; w++)
        wave(&s, w);
}

HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_node_aware, "node_aware", .build = build,
       .flags = HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEVEL,
       .doc = "sums inside each node, one message per pair of nodes (spread over the ranks of a node), then sums over "
              "the nodes");
