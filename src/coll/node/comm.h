/* The library's own communicator: its ranks, their nodes and sockets, and the memory and devices that they share. */
#ifndef HS_COLL_NODE_COMM_H
#define HS_COLL_NODE_COMM_H

#include "base/trace.h"
#include "coll/node/block.h"
#include "coll/node/roster.h"
#include "coll/node/shm.h"
#include "coll/schedule/topology.h"
#include "dist/grid.h"

#include <mpi.h>

struct hs_device_comm; /* coll/run/device_comm.h */

/* The ranks of a communicator that are on this rank's host, in the communicator's order. */
struct hs_host {
    MPI_Comm comm;          /* communicator of these ranks */
    int own;                /* true if this struct owns comm and must free it */
    int count, me;          /* number of these ranks; this rank's index among them */
    struct hs_topology all; /* of all ranks of the communicator, whose nodes are the hosts */
    int sockets;            /* true if the ranks of some host of the communicator may be bound to different sockets */
};

/* The ranks of a communicator that are on this rank's node, in the communicator's order. A node is a host, or, with
 * virtual nodes, a part of one. */
struct hs_mates {
    MPI_Comm comm; /* communicator of the mates; MPI_COMM_NULL if some (virtual) node spans several machines */
    int own;       /* true if this struct owns comm and must free it */
    int count, me; /* number of mates; this rank's index among them */
    int *rank;     /* rank of each mate in the communicator */
    const struct hs_division *node; /* the division by node; NULL if the mates are consecutive ranks */
};

/* Index of a rank of the communicator among the mates, -1 if it is on another node. */
static inline int hs_mate_index(const struct hs_mates *mates, int rank)
{
    if (mates->node)
        return hs_part_of(mates->node, rank) == hs_part_of(mates->node, mates->rank[0])
                   ? hs_place_in_part(mates->node, rank)
                   : -1;
    int index = rank - mates->rank[0];
    return index >= 0 && index < mates->count ? index : -1;
}

/* The library's duplicate of the caller's communicator, and the traffic counted on it. */
struct hs_comm {
    MPI_Comm comm;
    int rank, size;
    int64_t cut; /* largest MPI message in bytes, equal on all ranks; the messages of longer steps are split */
    int64_t bytes_sent, messages_sent;
    struct hs_host host;
    struct hs_topology topology; /* topology of all ranks; its size is 0 if it is unknown (discover.h) */
    struct hs_fabric fabric;     /* topology.fabric, if the links between nodes are known */
    struct hs_mates mates;
    struct hs_roster roster;       /* what the ranks of this node show each other; empty if nothing */
    struct hs_shm *shm;            /* shared memory of the ranks of this node; NULL if none */
    int crowded;                   /* true if there are more ranks than processors, so a waiting rank soon yields */
    struct hs_block *block;        /* state of waits that block in MPI; NULL if ranks poll */
    struct hs_trace *trace;        /* timeline and waits; NULL if neither is recorded */
    const struct hs_watch *watch;  /* called during waits without progress (base/wait.h); NULL if none */
    struct hs_message failure;     /* the error of a function of the caller (hs_performer); "" if none */
    int checks_messages;           /* 1 while a product runs here whose messages and shared panels have CRCs */
    int64_t damaged;               /* messages and shared panels with another CRC, which are only counted */
    struct hs_message damage;      /* the first of them */
    struct hs_device_comm *device; /* resources for collectives on devices (device_comm.h); NULL without a device */
};

enum { HS_CUT = 1 << 30 };

/* The group of all ranks. */
static inline struct hs_group hs_group_of_all(const struct hs_comm *comm)
{
    return (struct hs_group){.stride = 1, .size = comm->size, .me = comm->rank};
}

#endif
