/*
 * The node and the socket of each rank of a group. Plain data: coll/node/discover.c fills it in for a real
 * communicator, hs_topology_blocks for simulators, explanations and tests.
 */
#ifndef HS_COLL_SCHEDULE_TOPOLOGY_H
#define HS_COLL_SCHEDULE_TOPOLOGY_H

#include "coll/schedule/steps.h"
#include "dist/fabric.h"

/*
 * A partition of a group's ranks; parts are numbered in the order of their lowest ranks. Consecutive ranks in parts of
 * one size, of which only the last may be smaller, need no tables, so the usual topology takes no memory.
 */
struct hs_division {
    int size, parts;
    int each;       /* number of ranks of every part but the last; 0 if there are tables */
    int *of;        /* table: part of each rank, indexed by rank */
    int *index;     /* table: position of each rank within its part, indexed by rank */
    int *first;     /* table: number of ranks in the parts before part i, for i from 0 to parts */
    int *member;    /* table: all ranks, part by part, ascending in each */
    int even;       /* true if all parts have the same size */
    int contiguous; /* true if the ranks of every part are consecutive */
};

enum hs_division_kind { HS_NODE, HS_SOCKET, HS_DIVISION_KINDS };

struct hs_topology {
    int size;
    struct hs_division division[HS_DIVISION_KINDS]; /* sockets are numbered across nodes; each lies in one node */
    /* Bytes of SHARED that each rank has; 0 if there is no shared memory, so that ranks of one node send messages. */
    int64_t shared_bytes;
    int direct;  /* true if ranks of one node can read each other's IN and OUT */
    int *tables; /* of the divisions; NULL if none has any */
    const struct hs_fabric
        *fabric; /* the links between nodes; NULL if unknown. Not owned; not inherited by subgroups */
};

/* The part of a rank, and the rank's position in it. */
static inline int hs_part_of(const struct hs_division *division, int rank)
{
    return division->each ? rank / division->each : division->of[rank];
}
static inline int hs_place_in_part(const struct hs_division *division, int rank)
{
    return division->each ? rank % division->each : division->index[rank];
}
/* The number of ranks in the parts before `part`, which may be the number of parts. */
static inline int hs_ranks_before(const struct hs_division *division, int part)
{
    return !division->each ? division->first[part] : part < division->parts ? part * division->each : division->size;
}
static inline int hs_division_size(const struct hs_division *division, int part)
{
    return hs_ranks_before(division, part + 1) - hs_ranks_before(division, part);
}
/* Size of the largest part. */
static inline int hs_division_largest(const struct hs_division *division)
{
    int most = division->each > 1 ? division->each : 1;
    for (int i = 0; !division->each && i < division->parts; i++)
        most = hs_division_size(division, i) > most ? hs_division_size(division, i) : most;
    return most;
}
/* Rank `at` in the order of parts, in each part ascending. */
static inline int hs_rank_by_part(const struct hs_division *division, int at)
{
    return division->each ? at : division->member[at];
}
/* The i-th rank of a part. */
static inline int hs_part_rank(const struct hs_division *division, int part, int i)
{
    return hs_rank_by_part(division, hs_ranks_before(division, part) + i);
}

/* The node of a rank, and the number of nodes of `size` ranks; without a topology every rank is on its own node. */
static inline int hs_node_of(const struct hs_topology *topology, int rank)
{
    return topology ? hs_part_of(&topology->division[HS_NODE], rank) : rank;
}
static inline int hs_nodes_of(const struct hs_topology *topology, int size)
{
    return topology ? topology->division[HS_NODE].parts : size;
}

/*
 * Makes a topology without shared memory. node[] and socket[], indexed by rank, contain arbitrary numbers: two ranks
 * have the same node[] exactly if they are on one node, and two ranks of a node have the same socket[] exactly if they
 * are on one socket. `socket` may be NULL for one socket per node. Errors: HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_topology_make(struct hs_topology *topology, int size, const int *node, const int *socket,
                               const struct hs_allocator *memory);
/*
 * Makes a topology of `nodes` blocks of consecutive ranks, each divided into `sockets` blocks (one per rank if it has
 * fewer ranks). Blocks differ in size by at most one, larger ones come first. Errors: HSUMMA_ERR_ARGUMENT,
 * HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_topology_blocks(struct hs_topology *topology, int size, int nodes, int sockets,
                                 const struct hs_allocator *memory);
/* Renumbers the nodes of a topology without sockets: node order[i] becomes node i. Errors: HSUMMA_ERR_MEMORY. */
hsumma_status hs_topology_renumber(struct hs_topology *topology, const int *order, const struct hs_allocator *memory);
void hs_topology_free(struct hs_topology *topology, const struct hs_allocator *memory);

/*
 * The topology of the subgroup rank[0 .. size) of `topology` (NULL: every rank on its own node), with at most
 * `shared_bytes` bytes of shared memory per rank. The builder owns it. If memory is exhausted, the function returns
 * NULL and the builder has failed.
 */
struct hs_topology *hs_topology_of(struct hs_builder *builder, const struct hs_topology *topology, const int *rank,
                                   int size, int64_t shared_bytes);

/* The ranks of a part, in memory of the builder; NULL if memory is exhausted: the builder has then failed. */
const int *hs_part_ranks(struct hs_builder *builder, const struct hs_division *division, int part);

#endif
