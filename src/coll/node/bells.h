/*
 * Wakes ranks that block in MPI (option wait=block) when a flag in shared memory is raised: a rank that is about to
 * block sets `asleep` in memory shared by its machine, and a rank that raises a flag sends every such rank an empty
 * message, a bell.
 */
#ifndef HS_COLL_NODE_BELLS_H
#define HS_COLL_NODE_BELLS_H

#include "base/memory.h"
#include "base/wait.h"

#include <mpi.h>
#include <stdatomic.h>

struct hs_sleeper {
    /* True if the rank blocks in MPI, or will unless it finds work; cleared by a peer that rings, or by itself. */
    _Alignas(128) _Atomic int asleep;
};

struct hs_bells {
    MPI_Comm comm;
    int members, me; /* number of the communicator's ranks on this machine, 1 if bells are not used; this one's index */
    int *rank;       /* rank of each member in the communicator */
    MPI_Request *sent;          /* the last bell sent to each member */
    struct hs_sleeper *sleeper; /* shared by the machine, indexed by member */
    MPI_Request request;        /* this rank's receive for a bell */
    int listening;              /* true between hs_bells_listen and hs_bells_awake */
    int owed;                   /* number of bells sent to this rank and not received yet */
};

/*
 * Collective over comm, same status on all ranks. `machine` consists of the ranks of comm that share this rank's
 * machine. own: the status that this rank contributes. watch: NULL, or looks after the waits.
 */
hsumma_status hs_bells_make(struct hs_bells *bells, MPI_Comm comm, MPI_Comm machine, hsumma_status own,
                            const struct hs_watch *watch, const struct hs_allocator *memory);
/* mpi: true if MPI may still be called. */
void hs_bells_free(struct hs_bells *bells, int mpi, const struct hs_allocator *memory);

/* Announces that this rank will block, and posts the receive for the bell that wakes it. Returns an MPI error code. */
int hs_bells_listen(struct hs_bells *bells);
/* Ends the announcement. heard: true if MPI has completed bells->request. */
void hs_bells_awake(struct hs_bells *bells, int heard);
/* Sends a bell to blocked ranks; call it after raising a flag. NULL is ignored. */
void hs_bells_ring(struct hs_bells *bells);

#endif
