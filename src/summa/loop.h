/*
 * The one loop: SUMMA is HSUMMA with one level, a variant is a row in a table, and blocking is a window of length 0.
 *
 * The innermost panels are multiplied in order.  While panel t is being multiplied, one window of `lookahead` innermost
 * panels (and at least one panel of each outer level) is on its way, across outer boundaries.  Everything advances from
 * hs_loop_advance, which is called until it is done: no thread, no recursion.
 */
#ifndef HS_SUMMA_LOOP_H
#define HS_SUMMA_LOOP_H

#include "summa/drain.h"
#include "summa/feed.h"

struct hs_loop_times {
    double begin, seconds, gemm, copy;
    int64_t bytes, messages;
};

struct hs_loop {
    const struct hs_problem *problem;
    const struct hs_spec *spec;
    struct hs_comm *comm;
    struct hs_variant variant;
    struct hs_panels panels;
    struct hs_cache lists;
    struct hs_feed feed[2];
    int feeds;
    struct hs_drain drain;
    int drains; /* 0 or 1 */
    int one_at_a_time;
    int sliced;       /* something may have to move during a multiplication */
    int64_t local[3]; /* local extents of the pinned dimensions */
    int *line;        /* room for the ranks of a line, where hs_loop_connect needs it */
    char *arena;      /* what a plan keeps: instances and the like */
    size_t arena_bytes;
    char *buffers; /* of panels: lent at each start */
    size_t buffer_bytes;

    /* one execution */
    enum { HS_IDLE, HS_RUNNING } state;
    union hs_value alpha, beta;
    struct hs_matrix matrix[3];
    int now;                          /* the innermost panel to be multiplied */
    int64_t column;                   /* of the local product: where the next slice begins */
    struct hs_loop_times times, last; /* of this execution so far, and of the last complete one */
};

/* problem and spec must outlive the loop.  Local; what fails has left nothing behind. */
hsumma_status hs_loop_init(struct hs_loop *loop, const struct hs_problem *problem, const struct hs_spec *spec,
                           struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message);
/* What the rows "mpi" need, after hs_loop_init has succeeded everywhere.  Collective over the grid. */
hsumma_status hs_loop_connect(struct hs_loop *loop);
void hs_loop_free(struct hs_loop *loop, const struct hs_allocator *memory);

/* Begins an execution with loop->buffer_bytes of memory at `buffers`; the arguments are good on all processes.  Its
 * time counts from `begin`. */
void hs_loop_start(struct hs_loop *loop, const void *alpha, const struct hs_matrix matrix[3], const void *beta,
                   char *buffers, double begin);
/* Moves it forward (hs_advance). */
hsumma_status hs_loop_advance(void *loop, int *worked, int *done);

/* Panel buffers that a spec needs on the process that needs most. */
int64_t hs_workspace_max(const struct hs_problem *problem, const struct hs_variant *variant, const struct hs_spec *spec,
                         const struct hs_pairs *pairs);

#endif
