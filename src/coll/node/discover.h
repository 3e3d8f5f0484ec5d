/*
 * A group of ranks as the collectives see it: who is where, and the memory that the ranks of a node share.  Made over
 * the context's communicator; nothing of MPI's is kept except, where the system offers no other shared memory, a
 * window.
 */
#ifndef HS_COLL_NODE_DISCOVER_H
#define HS_COLL_NODE_DISCOVER_H

#include "coll/node/comm.h"

struct hs_discover_options {
    const char *topology; /* "auto", or virtual: "nodes:4,sockets:2" (blocks of consecutive ranks) */
    int64_t shared_bytes; /* bytes of shared memory per rank and slot at most; 0: none; negative: choose */
    int direct;           /* 0: never read a peer's memory directly */
    int window;           /* 1: the memory of an MPI window, as where a mapping of our own cannot be had */
    int posts;            /* 1: the flags alone, no room (for devices, which have theirs) */
};

/* Finds out where the ranks of comm are and makes the shared memory.  Collective over comm; the same status on all. */
hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message);
void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory);

/* The worst of all ranks' statuses, by MPI itself: for what comes before our own collectives can be used. */
hsumma_status hs_comm_agreed(MPI_Comm comm, hsumma_status status);

#endif
