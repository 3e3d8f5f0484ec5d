/*
 * Common code of node-aware algorithms on vectors with parts: the packed order of parts, in which the parts of a node's
 * ranks are adjacent (the vector's own order if every node's ranks are consecutive), and the pairwise exchange between
 * nodes.
 *
 * In step s = 1 .. nodes - 1 node a sends to node a + s and receives from node a - s (modulo the number of nodes). The
 * ranks of a node divide the steps among them: in wave w = 0, 1, ... rank i of a node (i = 0, 1, ...) performs step
 * w * members + i + 1.
 */
#ifndef HS_COLL_PATTERN_NODE_MAP_H
#define HS_COLL_PATTERN_NODE_MAP_H

#include "coll/schedule/registry.h"

struct hs_node_map {
    const struct hs_shape *shape;
    const struct hs_division *division;
    int64_t shared_bytes; /* bytes of SHARED that each rank has */
    int nodes, node;      /* node: the node of this rank */
    const int *member;    /* ranks of this node */
    int members, me;      /* me: index of this rank in member[] */
    int waves;
    /* begin[i]: byte offset, in packed order, of the part of rank hs_rank_by_part(division, i); size + 1 entries. */
    int64_t *begin;
};

/* Without a topology every rank is its own node. Nonzero: no memory, and the builder has failed. */
int hs_node_map(struct hs_node_map *map, struct hs_builder *builder, const struct hs_shape *shape);

/* The range of a node's parts in packed order. */
static inline struct hs_span hs_node_span(const struct hs_node_map *map, int node)
{
    int64_t at = map->begin[hs_ranks_before(map->division, node)];
    return (struct hs_span){at, map->begin[hs_ranks_before(map->division, node + 1)] - at};
}
/* The range, in packed order, of the part of rank member[place]. */
static inline struct hs_span hs_member_span(const struct hs_node_map *map, int place)
{
    const int64_t *begin = map->begin + hs_ranks_before(map->division, map->node) + place;
    return (struct hs_span){begin[0], begin[1] - begin[0]};
}

/* The step between nodes that rank member[place] performs in a wave. */
struct hs_node_step {
    int to, from;           /* the nodes that it sends to and receives from; -1 if it is idle */
    int to_rank, from_rank; /* the ranks of these nodes that perform the same step */
};
struct hs_node_step hs_node_step(const struct hs_node_map *map, int wave, int place);

/*
 * Copies a node's parts from their places in the vector that begins at `vector` to `packed`, where they are adjacent in
 * packed order, or back if `pack` is 0. The first copy depends on `after`, each later one on the previous one. Returns
 * the last copy, or `after` if there is none.
 */
int hs_copy_node(struct hs_builder *builder, const struct hs_node_map *map, int node, int pack, struct hs_ref vector,
                 struct hs_ref packed, int after);

#endif
