/*
 * Allgather, node-aware: the ranks of a node gather its parts, every node sends them to every other one in one message,
 * and the received parts are distributed inside the node. The ranks of a node share the messages evenly. Works for any
 * placement of ranks, nodes of any size, and parts that differ in length or are empty. Inside a node it uses shared
 * memory if the parts fit, else messages: Bruck's algorithm for the gather, direct sends for the rest.
 *
 * Cost with n nodes of ppn ranks: between nodes ceil((n - 1)/ppn) alpha + (n - 1)/n (m/ppn) beta if every rank has a
 * link, and ppn times the bytes if the ranks of a node share one; inside a node every rank copies about m bytes, or
 * without shared memory receives them in about log2 ppn + ceil((n - 1)/ppn)(ppn - 1) messages. Scratch memory: one
 * vector unless every node's ranks are contiguous; without shared memory also the parts of a node.
 */
#include "coll/pattern/embed.h"
#include "coll/pattern/node_map.h"
#include "coll/schedule/rows.h"

enum { GATHERED = 1, RECEIVED = 2 }; /* signal values; that of wave w is RECEIVED + w */

struct node_gather {
    struct hs_builder *builder;
    struct hs_node_map map;
    struct hs_ref packed; /* the vector in packed order: OUT if that is the vector's own order, else SCRATCH */
    int own;              /* step after which this node's parts are packed */
    int sent;
    int shared;      /* true if shared memory is used inside the node */
    int64_t *filled; /* bytes of each rank's SHARED that contain data so far, indexed by place in the node */
};

/* True if the node has several ranks, whose SHARED has room for all that they need. Initialises `filled`. */
static int fits(struct node_gather *g)
{
    int64_t most = 0;
    for (int i = 0; i < g->map.members; i++) {
        int64_t bytes = g->filled[i] = hs_member_span(&g->map, i).count;
        for (int w = 0; w < g->map.waves; w++) {
            int from = hs_node_step(&g->map, w, i).from;
            bytes += from < 0 ? 0 : hs_node_span(&g->map, from).count;
        }
        most = most < bytes ? bytes : most;
    }
    return g->map.members > 1 && most <= g->map.shared_bytes;
}

static void own_through_shared_memory(struct node_gather *g)
{
    const struct hs_node_map *map = &g->map;
    int own = hs_emit_copy(g->builder, hs_shared(0), hs_in(0), hs_member_span(map, map->me).count, -1);
    hs_emit_signal_next(g->builder, GATHERED, own, -1);
    for (int i = 0; i < map->members; i++) {
        int place = (map->me + i) % map->members, wait = -1;
        int64_t bytes = hs_member_span(map, place).count;
        if (bytes == 0)
            continue;
        if (place != map->me)
            wait = hs_emit_wait(g->builder, map->member[place], GATHERED);
        int copy = hs_emit_copy(g->builder, hs_plus(g->packed, hs_member_span(map, place).at),
                                place == map->me ? hs_in(0) : hs_of(map->member[place], hs_shared(0)), bytes, wait);
        hs_after(g->builder, copy, g->own);
        g->own = copy;
    }
}

static void own_by_messages(struct node_gather *g)
{
    const struct hs_node_map *map = &g->map;
    int64_t *part = hs_builder_get(g->builder, (size_t)map->members + 1, sizeof *part);
    int first = hs_ranks_before(map->division, map->node);
    for (int i = 0; part && i <= map->members; i++)
        part[i] = map->begin[first + i] - map->begin[first];
    struct hs_shape inner = {.rank = map->me,
                             .size = map->members,
                             .bytes = hs_node_span(map, map->node).count,
                             .unit = map->shape->unit,
                             .part = part};
    struct hs_embedding embedding = {.rank = map->member,
                                     .in = hs_in(0),
                                     .out = hs_plus(g->packed, hs_node_span(map, map->node).at),
                                     .scratch = g->packed.slot == HS_SCRATCH ? map->shape->bytes : 0,
                                     .after = -1};
    if (part)
        g->own = hs_embed(g->builder, &hs_alg_allgather_bruck, &inner, &embedding, NULL);
}

/* Copies a node's parts from `from` to OUT, unless `from` is in OUT. */
static void unpack(struct node_gather *g, int node, struct hs_ref from, int after)
{
    if (from.slot != HS_OUT)
        hs_copy_node(g->builder, &g->map, node, 0, hs_out(0), from, after);
}

/* Emits this rank's SEND and RECV of a wave between nodes. Returns the RECV, -1 if there is none. */
static int between_nodes(struct node_gather *g, int wave, struct hs_ref dst)
{
    struct hs_node_step step = hs_node_step(&g->map, wave, g->map.me);
    if (step.to < 0)
        return -1;
    hs_emit_send_next(g->builder, step.to_rank, hs_plus(g->packed, hs_node_span(&g->map, g->map.node).at),
                      hs_node_span(&g->map, g->map.node).count, g->own, &g->sent);
    return hs_emit_recv(g->builder, step.from_rank, dst, hs_node_span(&g->map, step.from).count, -1);
}

static void wave_through_shared_memory(struct node_gather *g, int wave)
{
    const struct hs_node_map *map = &g->map;
    int received = between_nodes(g, wave, hs_shared(g->filled[map->me]));
    if (received >= 0)
        hs_emit_signal_next(g->builder, RECEIVED + wave, received, -1);
    for (int i = 0; i < map->members; i++) {
        int place = (map->me + i) % map->members, from = hs_node_step(map, wave, place).from, ready = received;
        if (from < 0 || hs_node_span(map, from).count == 0)
            continue;
        struct hs_ref parts = hs_shared(g->filled[place]);
        g->filled[place] += hs_node_span(map, from).count;
        if (place != map->me) {
            ready = hs_emit_wait(g->builder, map->member[place], RECEIVED + wave);
            parts = hs_of(map->member[place], parts);
        }
        unpack(g, from, parts, ready);
    }
}

static void wave_by_messages(struct node_gather *g, int wave)
{
    const struct hs_node_map *map = &g->map;
    int mine = hs_node_step(map, wave, map->me).from, n = map->members;
    struct hs_ref parts = hs_plus(g->packed, mine < 0 ? 0 : hs_node_span(map, mine).at);
    int last = between_nodes(g, wave, parts);
    if (mine >= 0)
        unpack(g, mine, parts, last);
    for (int i = 1; i < n; i++) {
        int to = (map->me - i + n) % n, place = (map->me + i) % n, from = hs_node_step(map, wave, place).from;
        if (mine >= 0)
            last = hs_emit_send(g->builder, map->member[to], parts, hs_node_span(map, mine).count, last);
        if (from >= 0) {
            struct hs_ref dst = hs_plus(g->packed, hs_node_span(map, from).at);
            unpack(g, from, dst, hs_emit_recv(g->builder, map->member[place], dst, hs_node_span(map, from).count, -1));
        }
    }
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct node_gather g = {.builder = builder, .own = -1, .sent = -1};
    if (hs_node_map(&g.map, builder, shape))
        return;
    g.packed = g.map.division->contiguous ? hs_out(0) : hs_scratch(0);
    g.filled = hs_builder_get(builder, (size_t)g.map.members, sizeof *g.filled);
    if (!g.filled)
        return;
    g.shared = fits(&g);
    if (g.shared)
        own_through_shared_memory(&g);
    else
        own_by_messages(&g);
    unpack(&g, g.map.node, hs_plus(g.packed, hs_node_span(&g.map, g.map.node).at), g.own);
    for (int w = 0; w < g.map.waves; w++) {
        if (g.shared)
            wave_through_shared_memory(&g, w);
        else
            wave_by_messages(&g, w);
    }
}

HS_ALG(HS_ALLGATHER, allgather_node_aware, "node_aware", .build = build, .flags = HS_KNOWS_NODES | HS_USES_LEVEL,
       .doc = "gather inside each node, one message per pair of nodes (spread over the ranks of a node), then sharing "
              "inside each node");
