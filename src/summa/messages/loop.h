/*
 * The one loop: SUMMA is HSUMMA with one level, a variant is a row in a table, and blocking is a window of length 0.
 *
 * The innermost panels are multiplied in order.  While panel t is being multiplied, one window of `lookahead` innermost
 * panels (and at least one panel of each outer level) is on its way, across outer boundaries.  Everything advances from
 * hs_loop_advance, which is called until it is done: no thread, no recursion.
 *
 * An execution is of a span of innermost panels.  Which indices they are and in which order they come does not depend
 * on the hierarchy, so several loops of one problem, with the same stationary operand, innermost width, turn and way to
 * cut the local GEMM, but other levels, algorithms, segments and lookaheads, may share a product: executed one after
 * the other on spans that follow each other over all panels they give the bits of one loop.  (Where C moves, if their
 * reductions bracket alike, which binomial ones do.)
 *
 * Messages of two spans have the same tags, and processes may be in different spans at a time.  They match all the
 * same.  An execution ends on a process when everything it asks of this process has been started and is over, so what a
 * process sends to another, or posts for it, in one span comes before all of the next span; inside a span the messages
 * of a pair and tag are as many on both sides and in one order (executor.h); and MPI matches those of a pair and tag in
 * order.  Trees and meanings of tags may differ from loop to loop: nothing depends on them.  Rows "mpi" have
 * communicators of each loop's own.
 */
#ifndef HS_SUMMA_MESSAGES_LOOP_H
#define HS_SUMMA_MESSAGES_LOOP_H

#include "summa/messages/conveyor.h"

struct hs_loop {
    const struct hs_problem *problem;
    const struct hs_spec *spec;
    struct hs_comm *comm;
    struct hs_variant variant;
    struct hs_panels panels;
    struct hs_cache lists;
    struct hs_conveyor conveyor[2]; /* of the moving operands, as they come in the alphabet: C's is the drain */
    int feeds;                      /* how many of them are */
    struct hs_cells cells[2];       /* of the lines of the moving operands that are shared (hs_spec_shares) */
    size_t shared_bytes;            /* of the node's memory for products, of all that the node's processes share */
    size_t shared_part;             /* of these what this process answers for: its share of its cells' */
    int blocking;     /* no lookahead: a panel, or a batch of several owners, is brought and then multiplied */
    int sliced;       /* something may have to move during a multiplication */
    int64_t local[3]; /* local extents of the pinned dimensions */
    int *line;        /* room for the ranks of a line, where hs_loop_connect needs it */
    char *arena;      /* what a plan keeps: instances and the like */
    size_t arena_bytes;
    char *buffers; /* of panels: lent at each start */
    size_t buffer_bytes;

    /* one execution */
    enum { HS_IDLE, HS_RUNNING } state;
    struct hs_turn turn;
    unsigned looks;
    int told; /* panels that the others know to be multiplied here */
    union hs_value alpha, beta;
    struct hs_matrix matrix[3];
    int now, end;                /* the innermost panel to be multiplied; where the span ends */
    int64_t column;              /* of the local product: where the next slice begins */
    int multiplying;             /* a device is at a slice */
    double mark;                 /* the last look at the clock meanwhile */
    int64_t flops;               /* of the slice */
    hsumma_status failed;        /* a device has; C is not to be used here */
    struct hs_times times, last; /* of this span so far, and of the last complete one */
};

/* Where the blocks of a variant's two moving operands meet. */
hsumma_status hs_variant_pairs(const struct hs_variant *variant, const struct hs_allocator *memory,
                               struct hs_pairs *pairs);

/* problem and spec must outlive the loop.  Local; what fails has left nothing behind. */
hsumma_status hs_loop_init(struct hs_loop *loop, const struct hs_problem *problem, const struct hs_spec *spec,
                           struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message);
/* What the rows "mpi" need, after hs_loop_init has succeeded everywhere.  Collective over the grid. */
hsumma_status hs_loop_connect(struct hs_loop *loop);
void hs_loop_free(struct hs_loop *loop, const struct hs_allocator *memory);

enum { HS_ALL = -1 }; /* as the end of a span: after the last panel */

/* The first innermost panel from `at` on with which panels of all levels begin; the number of panels if there is none.
 * Where the loop may begin and end spans. */
int hs_loop_boundary(const struct hs_loop *loop, int at);

/*
 * Begins an execution of the innermost panels from .. to - 1, both boundaries, alike on all processes; 0 .. HS_ALL is
 * the whole product.  It takes loop->buffer_bytes of memory at `buffers`, which the next span may have when this one is
 * done; the other arguments are good on all processes, and the same in all spans.  What is done once, such as to scale
 * a C that stays, is done by the span that begins with panel 0; an empty span does nothing, but where the product has
 * no panels, which takes one span.  Its time counts from `begin`.  turn: of a spec with cells, a number (hs_node_count)
 * for each span; NULL: nothing is shared.
 */
void hs_loop_start(struct hs_loop *loop, const void *alpha, const struct hs_matrix matrix[3], const void *beta,
                   char *buffers, const struct hs_turn *turn, double begin, int from, int to);
/* 1 if no message is under way: what this process waits for then are words of its node. */
int hs_loop_idle(const struct hs_loop *loop);
/* Moves it forward (hs_advance). */
hsumma_status hs_loop_advance(void *loop, int *worked, int *done);

/* The panel behind those of a feed that are brought before the next one is multiplied. */
int hs_loop_batch_end(const struct hs_loop *loop, const struct hs_conveyor *feed);
/* timeline.c: nothing can be multiplied now; records what for. */
void hs_loop_trace_wait(struct hs_loop *loop);

/* What this process gives to MPI in one execution, without the agreement at the start, in messages of at most `cut`
 * bytes. */
void hs_loop_count(const struct hs_loop *loop, int64_t cut, int64_t *messages, int64_t *bytes);

#endif
