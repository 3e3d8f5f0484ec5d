/*
 * Where the ranks of a group are: on which node, and on which socket of it.  Plain data, made by coll/node/discover.c
 * for a real communicator, by hs_topology_blocks for simulators, explanations and tests.
 */
#ifndef HS_COLL_SCHEDULE_TOPOLOGY_H
#define HS_COLL_SCHEDULE_TOPOLOGY_H

#include "coll/schedule/steps.h"

/* The ranks of a group divided into parts, which are numbered by their lowest rank. */
struct hs_division {
    int parts;
    int *of;             /* part of each rank */
    int *index;          /* of each rank within its part */
    int *first, *member; /* ranks of part i, ascending: member[first[i] .. first[i + 1]) */
    int even;            /* parts of one size */
    int contiguous;      /* the ranks of every part follow each other */
};

enum hs_division_kind { HS_NODE, HS_SOCKET, HS_DIVISION_KINDS };

struct hs_topology {
    int size;
    struct hs_division
        division[HS_DIVISION_KINDS]; /* sockets are numbered through over all nodes; each lies in one node */
    int64_t shared_bytes; /* bytes of SHARED that each rank has; 0: no shared memory, ranks of one node send messages */
    int direct;           /* ranks of one node can read each other's IN and OUT */
};

static inline int hs_division_size(const struct hs_division *division, int part)
{
    return division->first[part + 1] - division->first[part];
}
/* Ranks of the largest part. */
static inline int hs_division_largest(const struct hs_division *division)
{
    int most = 1;
    for (int i = 0; i < division->parts; i++)
        most = hs_division_size(division, i) > most ? hs_division_size(division, i) : most;
    return most;
}
static inline const int *hs_division_ranks(const struct hs_division *division, int part)
{
    return division->member + division->first[part];
}

/* From any numbers that are equal where ranks share a node, and a socket of it (NULL: one each).  HSUMMA_ERR_MEMORY. */
hsumma_status hs_topology_make(struct hs_topology *topology, int size, const int *node, const int *socket,
                               const struct hs_allocator *memory);
/* `nodes` blocks of consecutive ranks, each of `sockets` blocks; sizes differ by at most one, longer ones first. */
hsumma_status hs_topology_blocks(struct hs_topology *topology, int size, int nodes, int sockets,
                                 const struct hs_allocator *memory);
void hs_topology_free(struct hs_topology *topology, const struct hs_allocator *memory);

/*
 * The topology of the ranks rank[0 .. size) of another one (NULL: every rank on a node of its own), with `shared_bytes`
 * bytes of shared memory at most.  Belongs to the builder; NULL when memory is short (the builder has failed).
 */
struct hs_topology *hs_topology_of(struct hs_builder *builder, const struct hs_topology *topology, const int *rank,
                                   int size, int64_t shared_bytes);

#endif
