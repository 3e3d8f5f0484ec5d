/*
 * A group of ranks as the collectives see it: where each rank is, and the memory that the ranks of a node share.  Made
 * over the context's communicator; no object of MPI's is kept.  A node whose ranks cannot map memory together (no
 * memfd or /proc, other users, no memory left) shares none: its collectives send messages.
 */
#ifndef HS_COLL_NODE_DISCOVER_H
#define HS_COLL_NODE_DISCOVER_H

#include "coll/node/comm.h"

struct hs_discover_options {
    int nodes, sockets;   /* virtual: nodes of sockets, blocks of consecutive ranks; nodes 0: the real ones */
    int64_t shared_bytes; /* bytes of shared memory per rank and slot at most; 0: none; negative: choose */
    int direct;           /* 0: never read a peer's memory directly */
    int posts;            /* 1: the flags alone, no SHARED (for devices, which have theirs) */
};

/* Finds out where the ranks of comm are and makes the shared memory.  Collective over comm; the same status on all. */
hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message);
void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory);

/*
 * The ranks of `machine` (which share one, in the order of comm) that are on this rank's node.  Collective, and the
 * same status on all: HSUMMA_ERR_UNSUPPORTED where some node's ranks are not on one machine.  *mates is to be freed in
 * any case, unless it is MPI_COMM_NULL.
 */
hsumma_status hs_comm_mates(const struct hs_comm *comm, MPI_Comm machine, MPI_Comm *mates);

#endif
