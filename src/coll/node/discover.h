/*
 * Discovers the topology of the context's communicator: the node and socket of each rank, the mates on this rank's
 * node, and the memory that the ranks of a node share. If ranks of a node cannot map memory together (no memfd or
 * /proc, different users, no memory left), no node has shared memory, and collectives send messages.
 */
#ifndef HS_COLL_NODE_DISCOVER_H
#define HS_COLL_NODE_DISCOVER_H

#include "coll/node/comm.h"

struct hs_discover_options {
    /*
     * Virtual topology: number of nodes, and of sockets per node, of consecutive ranks. nodes = 0 stands for the real
     * topology.
     */
    int nodes, sockets;
    int64_t shared_bytes; /* bytes of SHARED per rank and slot; 0 for no shared memory, negative for the default */
    int direct;           /* 0 if a peer's memory is never to be read directly */
    int posts;            /* 1 for flags only, without SHARED (for devices, whose SHARED is in device memory) */
};

/*
 * Sets comm->host. Ranks are on one host if they have the same host name, running system and name space of process ids;
 * otherwise they could not map each other's memory. MPI_Comm_split_type nearly gives the same answer, but waits without
 * yielding: with 3 ranks on 2 cores each call takes some 50 ms. Collective over comm; same status on all.
 */
hsumma_status hs_comm_find_host(struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message);
/*
 * Finds the nodes and sockets of the ranks of comm, whose hosts are known, and creates the shared memory. Collective
 * over comm; same status on all.
 */
hsumma_status hs_comm_discover(struct hs_comm *comm, const struct hs_discover_options *options,
                               const struct hs_allocator *memory, struct hs_message *message);
/*
 * Sets only the mates; replaces hs_comm_discover where all ranks are known to be on one node and no topology is needed.
 * Local. Errors: HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_comm_on_one_node(struct hs_comm *comm, const struct hs_allocator *memory);
/* Frees the host, the topology, the mates and the shared memory. Collective over the host, unless MPI has been
 * finalised. */
void hs_comm_forget(struct hs_comm *comm, const struct hs_allocator *memory);

#endif
