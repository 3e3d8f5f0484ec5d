/*
 * Redistribution: a matrix, or the sum of several, from one layout into another.
 *
 *     target := beta * target + source[0] + source[1] + ...
 *
 * Every pair of processes shares a dense block (shares.h).  All blocks are cut into the same number of rounds, and each
 * process sends and receives a piece of each of its blocks in every round: so all links are busy from the first round
 * to the last, no process receives from everybody what others wait for, and buffers stay within a limit.  In a round,
 * messages are in order of the distance between sender and receiver, first in nodes, then inside them.  What a process
 * shares with itself is copied.
 *
 * The sources are added in their order, whatever arrives first: bits do not depend on timing.
 */
#ifndef HS_SUMMA_REDISTRIBUTE_REDISTRIBUTION_H
#define HS_SUMMA_REDISTRIBUTE_REDISTRIBUTION_H

#include "coll/run/executor.h"
#include "summa/redistribute/shares.h"

/* A matrix over extent[0] x extent[1] processes; an axis over one process is on all of them. */
struct hs_layout {
    struct hs_axis axis[2];
    int extent[2];
    const int *rank; /* of process (i, j) in the communicator: rank[i * extent[1] + j] */
};

/* What this process has of a layout. */
struct hs_side {
    int coord[2];              /* -1, -1: nothing */
    struct hs_shares share[2]; /* with the processes of the other layout */
};

/* A block that passes between this process and another one, or stays on it. */
struct hs_transfer {
    int source, with[2];  /* which source, and the other process's place in the other layout */
    int rank;             /* the other process */
    int64_t far;          /* how far it is; 0: this one */
    int64_t elements, at; /* of the block; bytes of the round's buffer before its piece */
};

enum { HS_ROUNDS_AT_A_TIME = 4 };

struct hs_redistribution {
    struct hs_comm *comm;
    const struct hs_scalar *scalar;
    int channel, sources;
    int64_t rounds;
    struct hs_side target, *source; /* one for each source */
    struct hs_transfer *transfer;   /* those sent, then those received, by block and source */
    int sends, recvs;
    const struct hs_transfer **message; /* all of them, as messages are posted */
    int *rank;                          /* of the other process of each: the group of all instances */
    int64_t in_bytes, out_bytes;        /* of a round */
    size_t buffer_bytes;
    struct hs_list list[HS_ROUNDS_AT_A_TIME]; /* of the round that uses the instance */
    struct hs_instance instance[HS_ROUNDS_AT_A_TIME];
    void *work;
    /* an execution */
    struct hs_matrix to, *from; /* one for each source */
    union hs_value beta;
    char *buffers;
    int64_t next, done; /* rounds that have begun, and that are complete */
};

/*
 * Local, but all processes give the same layouts, sources and limit.  The sources differ in the ranks of their
 * processes alone.  channel: of the tags (coll/node/tags.h).  limit: bytes of buffers at most, of the process that
 * needs most.  The tables of ranks are not kept.  HSUMMA_ERR_MEMORY, of this process alone; HSUMMA_ERR_WORKSPACE, alike
 * on all: *needs is the least limit.
 */
hsumma_status hs_redistribution_init(struct hs_redistribution *redistribution, struct hs_comm *comm, int channel,
                                     const struct hs_scalar *scalar, const struct hs_layout *source, int sources,
                                     const struct hs_layout *target, int64_t limit, const struct hs_allocator *memory,
                                     int64_t *needs);

/* What one process sends ([1]) and receives ([0]): elements that stay on it, inside its node, between nodes. */
enum { HS_LOAD_HERE, HS_LOAD_INSIDE, HS_LOAD_BETWEEN, HS_LOAD_KINDS };
struct hs_redistribution_load {
    int64_t elements[2][HS_LOAD_KINDS]; /* those that stay are counted as received */
    int64_t messages[2];                /* of a round */
};
/* Of any process of a communicator of `size`; a topology of size 0: every process is on a node of its own.
 * HSUMMA_ERR_MEMORY. */
hsumma_status hs_redistribution_count(const struct hs_layout *source, int sources, const struct hs_layout *target,
                                      const struct hs_topology *topology, int size, int rank,
                                      const struct hs_allocator *memory, struct hs_redistribution_load *load);

/* Not while it runs, nor after MPI has failed in it. */
void hs_redistribution_free(struct hs_redistribution *redistribution, const struct hs_allocator *memory);

/*
 * Begins.  from[i], of sources on this process, and to are at the first local element of the part; buffers:
 * buffer_bytes of memory.  beta = 0 never reads the target.  Then hs_comm_wait(comm, hs_redistribution_advance,
 * redistribution).  Cannot fail but by MPI.
 */
void hs_redistribution_start(struct hs_redistribution *redistribution, const struct hs_matrix *from, const void *beta,
                             const struct hs_matrix *to, void *buffers);
hsumma_status hs_redistribution_advance(void *redistribution, int *worked, int *done);

#endif
