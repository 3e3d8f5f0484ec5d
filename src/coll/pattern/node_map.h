/*
 * What the node-aware rows with parts have in common: the parts in packed order, in which the parts of a node's ranks
 * follow each other (the order of the vector itself if the ranks of every node do), and the steps between the nodes.
 *
 * In step s = 1 .. nodes - 1 node a sends to node a + s and receives from node a - s (modulo the number of nodes).  The
 * ranks of a node deal the steps out among themselves: in wave w = 0, 1, ... place i has step w members + i + 1.
 */
#ifndef HS_COLL_PATTERN_NODE_MAP_H
#define HS_COLL_PATTERN_NODE_MAP_H

#include "coll/schedule/registry.h"

struct hs_node_map {
    const struct hs_shape *shape;
    const struct hs_division *division;
    int64_t shared_bytes; /* bytes of SHARED that each rank has */
    int nodes, node;      /* node: the own one */
    const int *member;    /* of the own node */
    int members, me;      /* me: place of the own rank */
    int waves;
    int64_t *begin; /* where the part of the i-th rank of division->member begins in packed order: size + 1 */
};

/* Without a topology every rank is a node of its own.  Not 0: memory is short, and the builder has failed. */
int hs_node_map(struct hs_node_map *map, struct hs_builder *builder, const struct hs_shape *shape);

/* Where a node's parts begin in packed order, 0 <= node <= nodes. */
static inline int64_t hs_node_at(const struct hs_node_map *map, int node)
{
    return map->begin[map->division->first[node]];
}
static inline int64_t hs_node_bytes(const struct hs_node_map *map, int node)
{
    return hs_node_at(map, node + 1) - hs_node_at(map, node);
}
/* Where the part of a place of the own node begins in packed order. */
static inline int64_t hs_member_part_at(const struct hs_node_map *map, int place)
{
    return map->begin[map->division->first[map->node] + place];
}

static inline int64_t hs_member_bytes(const struct hs_node_map *map, int place)
{
    return hs_member_part_at(map, place + 1) - hs_member_part_at(map, place);
}

/* What a place of the own node does in a wave. */
struct hs_node_step {
    int to, from;           /* nodes; -1: nothing to do */
    int to_rank, from_rank; /* who does this step there */
};
struct hs_node_step hs_node_step(const struct hs_node_map *map, int wave, int place);

/*
 * Copies a node's parts from their places in `vector` to packed order, the first of them at `packed` (pack), or back.
 * All copies wait for `after`; the last one, which is returned, for the others; `after` if there is none.
 */
int hs_copy_node(struct hs_builder *builder, const struct hs_node_map *map, int node, int pack, struct hs_ref vector,
                 struct hs_ref packed, int after);

#endif
