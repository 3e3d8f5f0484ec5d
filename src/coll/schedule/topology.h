/*
 * On which node and socket each rank of a group is. Plain data: coll/node/discover.c fills it in for a real
 * communicator, hs_topology_blocks for simulators, explanations and tests.
 */
#ifndef HS_COLL_SCHEDULE_TOPOLOGY_H
#define HS_COLL_SCHEDULE_TOPOLOGY_H

#include "coll/schedule/steps.h"

/* A partition of a group's ranks; parts are numbered in the order of their lowest ranks. */
struct hs_division {
    int parts;
    int *of;             /* part of each rank */
    int *index;          /* position of each rank within its part */
    int *first, *member; /* ranks of part i, ascending: member[first[i] .. first[i + 1]) */
    int even;            /* all parts have the same size */
    int contiguous;      /* the ranks of every part are consecutive */
};

enum hs_division_kind { HS_NODE, HS_SOCKET, HS_DIVISION_KINDS };

struct hs_topology {
    int size;
    struct hs_division division[HS_DIVISION_KINDS]; /* sockets are numbered across nodes; each lies in one node */
    /* Bytes of SHARED that each rank has; 0: no shared memory, ranks of one node send messages. */
    int64_t shared_bytes;
    int direct; /* ranks of one node can read each other's IN and OUT */
};

static inline int hs_division_size(const struct hs_division *division, int part)
{
    return division->first[part + 1] - division->first[part];
}
/* Size of the largest part. */
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

/*
 * node[] and socket[] hold any numbers, equal for ranks on the same node and (within it) socket. socket may be NULL:
 * one per node. Errors: HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_topology_make(struct hs_topology *topology, int size, const int *node, const int *socket,
                               const struct hs_allocator *memory);
/*
 * `nodes` blocks of consecutive ranks, each made of `sockets` blocks; sizes differ by at most one, larger blocks come
 * first.
 */
hsumma_status hs_topology_blocks(struct hs_topology *topology, int size, int nodes, int sockets,
                                 const struct hs_allocator *memory);
void hs_topology_free(struct hs_topology *topology, const struct hs_allocator *memory);

/*
 * The topology of the subgroup rank[0 .. size) of `topology` (NULL: every rank on its own node), with at most
 * `shared_bytes` bytes of shared memory. Owned by the builder; NULL if memory is exhausted (the builder has failed
 * then).
 */
struct hs_topology *hs_topology_of(struct hs_builder *builder, const struct hs_topology *topology, const int *rank,
                                   int size, int64_t shared_bytes);

#endif
