/*
 * What node-aware algorithms on vectors with parts share: the packed order of parts, in which the parts of a node's
 * ranks are adjacent (the vector's own order if every node's ranks are consecutive), and the steps between nodes.
 *
 * In step s = 1 .. nodes - 1 node a sends to node a + s and receives from node a - s (modulo the number of nodes). The
 * ranks of a node share the steps: in wave w = 0, 1, ... place i does step w members + i + 1.
 */
#ifndef HS_COLL_PATTERN_NODE_MAP_H
#define HS_COLL_PATTERN_NODE_MAP_H

#include "coll/schedule/registry.h"

struct hs_node_map {
    const struct hs_shape *shape;
    const struct hs_division *division;
    int64_t shared_bytes; /* bytes of SHARED that each rank has */
    int nodes, node;      /* node: this rank's */
    const int *member;    /* ranks of this node */
    int members, me;      /* me: this rank's place among them */
    int waves;
    /* Offset in packed order of the part of rank division->member[i]; size + 1 entries. */
    int64_t *begin;
};

/* Without a topology every rank is its own node. Nonzero: memory is exhausted, and the builder has failed. */
int hs_node_map(struct hs_node_map *map, struct hs_builder *builder, const struct hs_shape *shape);

/* Offset in packed order of a node's parts, 0 <= node <= nodes. */
static inline int64_t hs_node_at(const struct hs_node_map *map, int node)
{
    return map->begin[map->division->first[node]];
}
static inline int64_t hs_node_bytes(const struct hs_node_map *map, int node)
{
    return hs_node_at(map, node + 1) - hs_node_at(map, node);
}
/* Offset in packed order of the part of a place of this node. */
static inline int64_t hs_member_part_at(const struct hs_node_map *map, int place)
{
    return map->begin[map->division->first[map->node] + place];
}

static inline int64_t hs_member_bytes(const struct hs_node_map *map, int place)
{
    return hs_member_part_at(map, place + 1) - hs_member_part_at(map, place);
}

/* What a place of this node does in a wave. */
struct hs_node_step {
    int to, from;           /* nodes; -1: nothing */
    int to_rank, from_rank; /* the ranks that do this step there */
};
struct hs_node_step hs_node_step(const struct hs_node_map *map, int wave, int place);

/*
 * Copies a node's parts from their places in `vector` to `packed` in packed order, or back (pack = 0). All copies
 * depend on `after`, and each on the previous one. Returns the last copy, or `after` if there is none.
 */
int hs_copy_node(struct hs_builder *builder, const struct hs_node_map *map, int node, int pack, struct hs_ref vector,
                 struct hs_ref packed, int after);

#endif
