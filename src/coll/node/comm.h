/* The library's own communicator: its ranks, where they are, and what they share. */
#ifndef HS_COLL_NODE_COMM_H
#define HS_COLL_NODE_COMM_H

#include "base/trace.h"
#include "coll/node/block.h"
#include "coll/node/shm.h"
#include "coll/schedule/topology.h"

#include <mpi.h>

struct hs_device_comm; /* coll/run/device_comm.h */

/* The ranks of a communicator that are on this rank's node, in the communicator's order. */
struct hs_mates {
    MPI_Comm comm; /* communicator of the mates; MPI_COMM_NULL: some (virtual) node spans several machines */
    int own;       /* comm must be freed */
    int count, me; /* number of mates; this rank's index among them */
    int *mate;     /* index of each rank of the communicator among the mates, or -1 */
};

/* The library's duplicate of the caller's communicator, and the traffic counted on it. */
struct hs_comm {
    MPI_Comm comm;
    int rank, size;
    int64_t cut; /* largest MPI message in bytes, equal on all ranks; longer steps are split */
    int64_t bytes_sent, messages_sent;
    struct hs_topology topology; /* of all ranks; size 0: unknown (discover.h) */
    struct hs_mates mates;
    struct hs_shm *shm;            /* shared memory with the ranks of this node; NULL: none */
    struct hs_block *block;        /* how its ranks wait; NULL: by polling */
    struct hs_trace *trace;        /* NULL: nothing is recorded */
    struct hs_device_comm *device; /* what the ranks share of their devices (device_comm.h); NULL: no device */
};

enum { HS_CUT = 1 << 30 };

#endif
