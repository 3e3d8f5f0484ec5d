/*
 * How ranks that block in MPI (option wait=block) learn of flags in shared memory: a rank that is about to block says
 * so in memory that its machine shares, and a rank that raises a flag then sends it an empty message, a bell.
 */
#ifndef HS_COLL_NODE_BELLS_H
#define HS_COLL_NODE_BELLS_H

#include "base/memory.h"
#include "base/status.h"

#include <mpi.h>
#include <stdatomic.h>

struct hs_sleeper {
    _Alignas(128) _Atomic int asleep; /* this rank blocks, or will unless it finds something to do */
};

struct hs_bells {
    MPI_Comm comm;
    int members, me;   /* ranks of the communicator on this machine; 1: no rank rings */
    int *rank;         /* of each in the communicator */
    MPI_Request *sent; /* to each of them: the last bell */
    struct hs_sleeper *sleeper;
    MPI_Request request; /* the bell that this rank listens for */
    int listening;       /* between hs_bells_listen and hs_bells_awake */
    int owed;            /* bells that have been rung for it and not been received */
};

/* Collective over comm; `machine`: its ranks that share memory.  The same status on all. */
hsumma_status hs_bells_make(struct hs_bells *bells, MPI_Comm comm, MPI_Comm machine, const struct hs_allocator *memory);
/* mpi: whether MPI may still be called. */
void hs_bells_free(struct hs_bells *bells, int mpi, const struct hs_allocator *memory);

/* Says that this rank will block, and listens: flags that are raised from now on ring.  An MPI code. */
int hs_bells_listen(struct hs_bells *bells);
/* It does not block any more; heard: MPI has completed `request`. */
void hs_bells_awake(struct hs_bells *bells, int heard);
/* After raising a flag.  NULL is ignored. */
void hs_bells_ring(struct hs_bells *bells);

#endif
