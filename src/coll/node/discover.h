/*
 * A group of ranks as the collectives see it: where each rank is, which ranks are mates on its node, and the memory
 * that the ranks of a node share. Built for the context's communicator. A node whose ranks cannot map memory together
 * (no memfd or /proc, different users, no memory left) shares none, and its collectives send messages.
 */
#ifndef HS_COLL_NODE_DISCOVER_H
#define HS_COLL_NODE_DISCOVER_H

#include "coll/node/comm.h"

struct hs_discover_options {
    /* Virtual topology: nodes, and sockets per node, of consecutive ranks; nodes 0: the real topology. */
    int nodes, sockets;
    int64_t shared_bytes; /* most bytes of shared memory per rank and slot; 0: none; negative: choose */
    int direct;           /* 0: never read a peer's memory directly */
    int posts;            /* 1: only the flags, no SHARED (for devices, which have their own) */
};

/* Finds the places of the ranks of comm and creates the shared memory. Collective over comm; same status on all. */
hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message);
/*
 * Use this instead of hs_comm_discover if all ranks are known to be on one node and no topology is needed: it sets the
 * mates only. Local; HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_comm_on_one_node(struct hs_comm *comm, const struct hs_allocator *memory);
void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory);

#endif
