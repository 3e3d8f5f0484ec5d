/*
 * Redistribution: a matrix, or the sum of several, from one layout into another.
 *
 *     target := beta * target + source[0] + source[1] + ...
 *
 * Every pair of processes shares a dense block (shares.h).  All blocks are cut into the same number of pieces; in each
 * round a process sends and receives one piece of each of its blocks.  So all links are busy throughout, processes do
 * not wait their turn at one receiver, and buffers stay within a limit.  Within a round messages are ordered by the
 * distance from sender to receiver: first in nodes, then in places inside a node.  Data that stay on a process are
 * copied.
 *
 * The sources are added in their order, independent of arrival: the bits do not depend on timing.
 */
#ifndef HS_SUMMA_REDISTRIBUTE_REDISTRIBUTION_H
#define HS_SUMMA_REDISTRIBUTE_REDISTRIBUTION_H

#include "coll/run/executor.h"
#include "summa/redistribute/shares.h"

/* A matrix over extent[0] x extent[1] processes; along an axis with nprocs 1 all processes have the same indices. */
struct hs_layout {
    struct hs_axis axis[2];
    int extent[2];
    const int *rank; /* process (i, j) has rank[i * extent[1] + j] in the communicator; NULL if that is its index */
};

/* This process's part of a layout. */
struct hs_side {
    int coord[2];              /* coordinates of this process; both -1 if it has no part */
    struct hs_shares share[2]; /* its rows [0] and columns [1], grouped by their owner in the other layout */
};

/* A block that this process sends, receives, or keeps. */
struct hs_transfer {
    int source, with[2];  /* index of the source; coordinates of the other process in the other layout */
    int rank;             /* rank of the other process */
    int64_t far;          /* distance to the other process; 0 if it is this process itself */
    int64_t elements, at; /* number of elements of the block; offset in bytes of its piece in a round's buffer */
};

enum { HS_ROUNDS_AT_A_TIME = 4 };

struct hs_redistribution {
    struct hs_comm *comm;
    const struct hs_scalar *scalar;
    int channel, sources;
    int64_t rounds;
    struct hs_side target, *source; /* source[i] is the side of source i */
    struct hs_transfer *transfer;   /* sends; then receives and kept blocks, which are ordered by block, then source */
    int sends, recvs;
    const struct hs_transfer **message; /* all transfers, in the order in which their messages are posted */
    int *rank; /* rank[i]: rank of the other process of transfer[i]; the table of all instances' groups */
    int64_t in_bytes, out_bytes; /* bytes received and sent per round */
    size_t buffer_bytes;
    struct hs_list list[HS_ROUNDS_AT_A_TIME]; /* the list of the round that each instance executes */
    struct hs_instance instance[HS_ROUNDS_AT_A_TIME];
    void *work;
    /* State of the current execution. */
    struct hs_matrix to, *from; /* from[i] is this process's part of source i */
    union hs_value beta;
    char *buffers;
    int checked;        /* 1 if its messages carry CRCs */
    int64_t next, done; /* the next round to begin; number of complete rounds */
};

/*
 * Makes a redistribution.  Local, but all processes must pass the same layouts, sources and limit.  The sources differ
 * only in their tables of ranks, which are not kept.  channel: number of the channel in tags (coll/node/tags.h). limit:
 * maximum bytes of buffers on the process that needs most.  HSUMMA_ERR_MEMORY may be returned on this process only;
 * HSUMMA_ERR_WORKSPACE is returned on all processes, with the smallest possible limit in *needs.
 */
hsumma_status hs_redistribution_init(struct hs_redistribution *redistribution, struct hs_comm *comm, int channel,
                                     const struct hs_scalar *scalar, const struct hs_layout *source, int sources,
                                     const struct hs_layout *target, int64_t limit, const struct hs_allocator *memory,
                                     int64_t *needs);

/*
 * Sets *rounds to the number of rounds, which is equal on all processes and large enough for the most bytes that any
 * process could have to send or receive.  In a round a transfer may have one element more than its share.  memberships:
 * the most sources of which one process is a member; size: bytes of an element; cut: maximum bytes of a message.
 * HSUMMA_ERR_WORKSPACE: as above.
 */
hsumma_status hs_redistribution_rounds(const struct hs_layout *source, int sources, const struct hs_layout *target,
                                       int memberships, int64_t size, int64_t limit, int64_t cut, int64_t *needs,
                                       int64_t *rounds);

/* Lists the transfers that process `rank` of a communicator of `size` processes sends (sends 1), or receives and keeps
 * (0): their processes, distances and elements.  If topology->size is 0, every process counts as a node.  The caller
 * frees *transfer, also after an error.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_redistribution_transfers(const struct hs_layout *source, int sources, const struct hs_layout *target,
                                          const struct hs_topology *topology, int size, int rank, int sends,
                                          const struct hs_allocator *memory, struct hs_transfer **transfer, int *count);

/* Must not be called during an execution, nor after an MPI error in one. */
void hs_redistribution_free(struct hs_redistribution *redistribution, const struct hs_allocator *memory);

/*
 * Begins an execution, which can only fail by an MPI error.  from[i] (for each source on this process) and `to` point
 * to the first local element of a part.  buffers: buffer_bytes of memory.  checked: 1 if a CRC follows each message,
 * equal on all processes.  beta = 0 never reads the target.  Afterwards call
 * hs_comm_wait(comm, hs_redistribution_advance, redistribution).
 */
void hs_redistribution_start(struct hs_redistribution *redistribution, const struct hs_matrix *from, const void *beta,
                             const struct hs_matrix *to, void *buffers, int checked);
hsumma_status hs_redistribution_advance(void *redistribution, int *worked, int *done);

#endif
