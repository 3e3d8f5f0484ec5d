/*
 * A group of ranks as the collectives see it: where each rank is, which are the mates on its node, and the memory that
 * the ranks of a node share.  Made over the context's communicator.  A node whose ranks cannot map memory together (no
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
/* In its place where all ranks are known to be on one node and the collectives need no topology: the mates alone.
 * Local; HSUMMA_ERR_MEMORY. */
hsumma_status hs_comm_on_one_node(struct hs_comm *comm, const struct hs_allocator *memory);
void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory);

#endif
