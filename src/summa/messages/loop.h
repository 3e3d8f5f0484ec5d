/*
 * The loop over the innermost panels of a product.  One loop serves all products over messages: SUMMA is HSUMMA with
 * one level, variants differ in data only, and lookahead 0 is an empty window.
 *
 * The caller repeats hs_loop_advance until the execution is done; there is no thread and no recursion.  "The loop" in
 * doc/design.md says which panels are in flight at a time.
 *
 * An execution covers a span of innermost panels.  Their indices and order do not depend on the hierarchy.  So several
 * loops can share one product: consecutive spans cover all panels, each span is executed by one of the loops, and the
 * bits are those of a single loop.  The loops need the same problem, stationary operand, innermost width, turn and
 * slices of the local GEMM, but may differ in levels, algorithms, segments and lookahead.  If C moves, their reductions
 * must also bracket sums alike, as binomial trees do.
 *
 * At any time different processes may be in different spans, and all spans use the same tags.  Messages still match: a
 * process ends a span only after all its operations of the span are complete, so it sends and posts everything of one
 * span before anything of the next.  Inside a span both sides have the same sequence of messages per pair and tag
 * (executor.h), and MPI matches these in order.  So trees and the meaning of tags may differ from loop to loop.  With
 * rows "mpi" each loop has its own communicators.
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
    struct hs_conveyor conveyor[2]; /* one for each moving operand, in the order A, B, C; the one for C is the drain */
    int feeds;                      /* number of moving operands among A and B */
    struct hs_cells cells[2];       /* cells of each moving operand's line, if they share panels (hs_spec_shares) */
    size_t shared_bytes;            /* bytes of product memory for all processes of the node */
    size_t shared_part;             /* this process's share of shared_bytes */
    int blocking; /* 1 if lookahead is 0: the next panel or batch starts when this one has been multiplied */
    /* 1 if a panel or batch is passed on before it is multiplied, since a process passes nothing on while the host
     * multiplies a slice.  With lookahead this is so only for a stationary C (if C moves, its sums would begin later)
     * and in a context without a device, which may multiply instead. */
    int passes_on;
    int sliced;       /* 1 if messages may have to be progressed while a panel is multiplied */
    int64_t local[3]; /* local extents of the pinned dimensions */
    int *line;        /* scratch of hs_loop_connect for the ranks of a line; used only with rows "mpi" */
    char *arena;      /* memory that lives as long as the plan: instances, sources */
    size_t arena_bytes;
    char *buffers; /* panel buffers, lent to each execution */
    size_t buffer_bytes;

    /* State of the current execution. */
    enum { HS_IDLE, HS_RUNNING } state;
    struct hs_node_execution execution;
    unsigned checks; /* number of calls of check_signals */
    int signalled;   /* number of panels multiplied here, as last signalled to the node */
    union hs_value alpha, beta;
    struct hs_matrix matrix[3];
    int now, end;                /* the next innermost panel to multiply; one past the span's last */
    int64_t column;              /* column of the local product at which the next slice begins */
    int multiplying;             /* 1 while a slice that was started is not complete (on a device) */
    double mark;                 /* time (hs_now) up to which the current slice has been added to times.gemm */
    int64_t flops;               /* flops of the current slice */
    hsumma_status failed;        /* first error of the local GEMM; the result in C is then invalid */
    struct hs_times times, last; /* times of the current span so far, and of the last complete span */
};

/* Number of columns of a slice of a local product, of about spec->slice flops; n if the product is not sliced.
 * Independent of timing, and a multiple of HS_SLICE_UNIT, the unrolling of BLAS kernels, unless it is n. */
enum { HS_SLICE_UNIT = 96 };
int64_t hs_slice_columns(const struct hs_spec *spec, int complex_type, int64_t m, int64_t n, int64_t k);

/* Makes the pairs of owners of a variant's two moving operands.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_variant_pairs(const struct hs_variant *variant, const struct hs_allocator *memory,
                               struct hs_pairs *pairs);

/* Makes a loop.  problem and spec must outlive it.  Local; after an error nothing stays allocated. */
hsumma_status hs_loop_init(struct hs_loop *loop, const struct hs_problem *problem, const struct hs_spec *spec,
                           struct hs_comm *comm, const struct hs_allocator *memory, struct hs_message *message);
/* Makes the communicators for rows "mpi", after hs_loop_init has succeeded on all processes.  Collective over the grid.
 */
hsumma_status hs_loop_connect(struct hs_loop *loop);
void hs_loop_free(struct hs_loop *loop, const struct hs_allocator *memory);

enum { HS_ALL = -1 }; /* end of a span that includes the last panel */

/* The first innermost panel from `at` on at which panels of all levels begin; the number of panels if there is none.
 * Spans of this loop begin and end at such boundaries. */
int hs_loop_boundary(const struct hs_loop *loop, int at);

/*
 * Begins an execution of the innermost panels from .. to - 1.  Local.  from and to are boundaries, equal on all
 * processes; 0, HS_ALL is the whole product.  buffers: loop->buffer_bytes of memory, in use until the execution is
 * done.  All processes must have agreed that the arguments are valid; alpha, beta and matrix are the same for all spans
 * of a product.  The span that begins at panel 0 applies beta to a C that is stationary or only scaled
 * (hs_only_scales).  A product without panels is one empty span, which scales C; any other empty span does nothing.
 * execution: has a new number for each span (hs_node_count); NULL if nothing is shared.  begin: the time (hs_now) from
 * which the execution is timed.
 */
void hs_loop_start(struct hs_loop *loop, const void *alpha, const struct hs_matrix matrix[3], const void *beta,
                   char *buffers, const struct hs_node_execution *execution, double begin, int from, int to);
/* 1 if no instance is in flight, so that this process can only wait for signals of processes of its node. */
int hs_loop_idle(const struct hs_loop *loop);
/* Advances the execution without waiting (an hs_advance function). */
hsumma_status hs_loop_advance(void *loop, int *worked, int *done);

/* One past the last panel of a feed that must have arrived before panel `now` is multiplied. */
int hs_loop_batch_end(const struct hs_loop *loop, const struct hs_conveyor *feed);
/* Implemented in timeline.c: records the cause of the wait when no panel can be multiplied. */
void hs_loop_trace_wait(struct hs_loop *loop);

/* Counts the messages, of at most `cut` bytes each, and the bytes that this process sends in one execution of all
 * panels.  The agreement at the start and MPI's own collectives (rows "mpi") are not counted. */
void hs_loop_count(const struct hs_loop *loop, int64_t cut, int64_t *messages, int64_t *bytes);

#endif
