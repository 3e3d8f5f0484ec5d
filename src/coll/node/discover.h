/*
 * Discovers the topology of the context's communicator: the node and socket of each rank, the mates on this rank's
 * node, and the memory that the ranks of a node share. If ranks of a node cannot map memory together (no memfd or
 * /proc, different users, no memory left), no node has shared memory, and collectives send messages.
 */
#ifndef HS_COLL_NODE_DISCOVER_H
#define HS_COLL_NODE_DISCOVER_H

#include "coll/node/comm.h"

struct hs_discover_options {
    int nodes, sockets;   /* virtual nodes, and sockets per node, of consecutive ranks; nodes = 0: the real topology */
    int64_t shared_bytes; /* bytes of SHARED per rank and slot; 0 for no shared memory, negative for the default */
    int direct;           /* 0 if a peer's memory is never to be read directly */
};

/*
 * Sets comm->host. Ranks are on one host if they have the same host name, running system and name space of process ids;
 * otherwise they could not map each other's memory. MPI_Comm_split_type nearly gives the same answer, but waits without
 * yielding: with 3 ranks on 2 cores each call takes some 50 ms. Collective over comm; same status on all.
 */
hsumma_status hs_comm_find_host(struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message);
/* Finds nodes and sockets, once hosts are known, and creates the shared memory. Collective; same status on all. */
hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message);
/* Sets only the mates: for ranks on one node that need no topology. Local. Errors: HSUMMA_ERR_MEMORY. */
hsumma_status hs_comm_on_one_node(struct hs_comm *comm, const struct hs_allocator *memory);
/* Frees all that the functions above have made. Collective over the host, unless MPI has been finalised. */
void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory);

#endif
