/* The library's own communicator: who is in it, where its ranks are, and what they share. */
#ifndef HS_COLL_NODE_COMM_H
#define HS_COLL_NODE_COMM_H

#include "base/trace.h"
#include "coll/node/block.h"
#include "coll/node/shm.h"
#include "coll/schedule/topology.h"

#include <mpi.h>

struct hs_device_comm; /* coll/run/device_comm.h */

/* The ranks of a communicator that are on this rank's node, in its order. */
struct hs_mates {
    MPI_Comm comm; /* theirs; MPI_COMM_NULL: the ranks of some (virtual) node are on several machines */
    int own;       /* the communicator is to be freed */
    int count, me; /* how many they are, and which of them this rank is */
    int *mate;     /* of each rank of the communicator: its number among them, or -1 */
};

/* One duplicated communicator of the library's own, and what has gone through it. */
struct hs_comm {
    MPI_Comm comm;
    int rank, size;
    int64_t cut; /* bytes of one MPI message at most, the same on all ranks; longer steps go in pieces */
    int64_t bytes_sent, messages_sent;
    struct hs_topology topology; /* of all its ranks; size 0: not known (discover.h) */
    struct hs_mates mates;
    struct hs_shm *shm;            /* shared memory with the ranks of this node; NULL: none */
    struct hs_block *block;        /* how its ranks wait; NULL: they poll */
    struct hs_trace *trace;        /* NULL: nothing is recorded */
    struct hs_device_comm *device; /* the same of devices (device_comm.h); NULL: there is no device */
};

enum { HS_CUT = 1 << 30 };

#endif
