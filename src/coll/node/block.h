/*
 * Waiting without polling (option wait=block): a rank with nothing to do waits until one of its messages in flight
 * completes or a rank of its machine rings (bells.h). In a simulator it blocks in MPI, the only possible way to wait,
 * since simulated time passes only while ranks block; on a real machine it naps between tests, which frees processors.
 */
#ifndef HS_COLL_NODE_BLOCK_H
#define HS_COLL_NODE_BLOCK_H

#include "coll/node/bells.h"

/* An instance's messages in flight, in a list of all instances in the order of their start. */
struct hs_in_flight {
    MPI_Request *request;
    int count;
    int collected; /* requests that waits have completed (MPI_REQUEST_NULL), not yet handled by the instance */
    int polls;     /* true if the rank must not block in MPI during the instance, except in a simulator */
    struct hs_in_flight *next;
};

struct hs_block {
    struct hs_bells bells;
    struct hs_in_flight *first;
    MPI_Request *other; /* one more request to wait for; NULL if none */
    int overflow;       /* true if there were more requests than a wait can handle */
    double looked;      /* time at which the last wait ended */
    MPI_Request *request;
    struct hs_in_flight **of; /* owner of each entry of `request`; NULL for the bell and `other` */
    int *index;
};

/* machine: communicator of the ranks of comm on this rank's machine. Collective over comm; same status on all ranks. */
hsumma_status hs_block_make(struct hs_block **block, MPI_Comm comm, MPI_Comm machine, const struct hs_watch *watch,
                            const struct hs_allocator *memory);
/* Frees block; NULL is ignored. mpi: true if MPI may still be called. */
void hs_block_free(struct hs_block *block, int mpi, const struct hs_allocator *memory);

void hs_block_add(struct hs_block *block, struct hs_in_flight *messages);
void hs_block_remove(struct hs_block *block, const struct hs_in_flight *messages);

/* True if time has passed since the last wait, so that MPI_Test may find more messages complete. In a simulator this
 * is rare. (SMPI 3.32 slows down with each test.) */
int hs_block_may_test(const struct hs_block *block);

/* An hs_idle function: blocks, on a real machine for some 2 ms at most; the first call may only announce that. */
hsumma_status hs_block_idle(void *block, int times);

#endif
