/*
 * Waiting in MPI (option wait=block) in place of polling: a rank that finds nothing to do blocks until one of the
 * messages that it has under way is complete, or a rank of its machine rings (bells.h).  In a simulator that is the
 * only way to wait, for time passes only while ranks block; on a real machine it leaves the processors to others.
 */
#ifndef HS_COLL_NODE_BLOCK_H
#define HS_COLL_NODE_BLOCK_H

#include "coll/node/bells.h"

/* Messages that an instance has under way, in a list, in the order of their start. */
struct hs_in_flight {
    MPI_Request *request;
    int count;
    int collected; /* of them, by a rank that has blocked: their requests are null */
    struct hs_in_flight *next;
};

struct hs_block {
    struct hs_bells bells;
    struct hs_in_flight *first;
    MPI_Request *other; /* one more that is awaited; NULL: none */
    int overflow;       /* more are under way than a wait can look at */
    double looked;      /* when the last wait ended */
    MPI_Request *request;
    struct hs_in_flight **of; /* of each request; NULL: of none */
    int *index;
};

/* Collective over comm; the same status on all. */
hsumma_status hs_block_make(struct hs_block **block, MPI_Comm comm, const struct hs_allocator *memory);
/* NULL is ignored; mpi: whether MPI may still be called. */
void hs_block_free(struct hs_block *block, int mpi, const struct hs_allocator *memory);

void hs_block_add(struct hs_block *block, struct hs_in_flight *messages);
void hs_block_remove(struct hs_block *block, const struct hs_in_flight *messages);

/* Whether messages may be complete that no wait has returned: in a simulator only if time has passed since the last one
 * ended.  (SMPI 3.32 keeps what a test completes in a list, and takes longer with each.) */
int hs_block_may_test(const struct hs_block *block);

/* hs_idle (base/wait.h). */
hsumma_status hs_block_idle(void *block, int times);

#endif
