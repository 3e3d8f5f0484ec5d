/*
 * The multiplication on one node, from shared memory: no message is sent.
 *
 * The looped dimension is cut into panels of natural order (so one panel has several owners: a panel is as wide as the
 * local GEMM likes, whatever the blocking), and one pinned dimension into chunks, so that what is handed over at a time
 * fits a cache.  A step is a panel and a chunk.  Every owner copies what it has of a step's tiles of A and B into
 * shared memory, once for all readers (fill), whatever layout it has it in; who needs a tile multiplies straight from
 * there (node.c); what lies in the reader's own memory, or in memory that readers have mapped, is multiplied from where
 * it is. Where C moves (stationary A or B: layers over k) each process makes its partial result in shared memory and
 * the owners of C add them up, in the order of the line (fill_and_sum.c).
 *
 * Words of the directory count steps: nobody waits but for those whose data it reads or overwrites.  All processes go
 * through the steps in one order and each fills, multiplies and sums what can be done next; the first step that is not
 * over anywhere can always be worked at, so nothing can lock.
 */
#ifndef HS_SUMMA_NODE_NODE_H
#define HS_SUMMA_NODE_NODE_H

#include "base/memory.h"
#include "summa/node_memory.h"
#include "summa/pack.h"

/* Ranks that this one waits for, by their numbers in the directory, each with its coordinate on the axis of the looped
 * dimension. */
struct hs_peers {
    int count;
    int *rank, *coord;
};

/* A moving operand: A or B on its way to those that multiply, or C on its way back. */
struct hs_supply {
    int operand;
    const struct hs_role *role;
    int lines;     /* parts of a tile, one for each line of processes that needs it (C: one for each process) */
    int64_t ld;    /* of a part */
    int64_t pitch; /* bytes from one part to the next */
    int ring;      /* tiles that there is room for */
    size_t at;     /* where they begin in the shared memory */
    struct hs_peers givers; /* who fills the part that this process reads (C: who adds up its partial result) */
    struct hs_peers takers; /* who reads what this process fills (C: whose partial results it adds up) */
    int8_t *gives;          /* per line: this process has something of it; NULL: nothing of any */
};

/* A place in memory that all processes of the node have mapped. */
struct hs_where {
    int64_t region, offset; /* region -1: it is in no such memory */
};

struct hs_node_device; /* on_device.h */

struct hs_node_product {
    const struct hs_problem *problem;
    const struct hs_spec *spec;
    struct hs_variant variant;
    int64_t panels, chunks, steps;
    struct hs_supply in[2]; /* A or B, moving */
    int ins;
    struct hs_supply out; /* C, if it moves */
    int outs;             /* 0 or 1 */
    int64_t local[3];     /* extents of the pinned dimensions here */
    int *peers_memory;    /* memory of all hs_peers */
    int8_t *lines_memory;
    size_t bytes; /* of shared memory, of all processes together */

    /* one execution */
    struct hs_product_memory *shared;
    struct hs_node_device *device; /* on which it runs; NULL: on the host */
    char *tiles;                   /* in the room, or of the device */
    uint64_t execution;
    int running, entered;
    union hs_value alpha, beta;
    struct hs_matrix matrix[3];
    int64_t fill, step, sum; /* the next ones */
    int direct[2];           /* of A and B: others read in place what this process has */
    double mark;             /* the last look at the clock */
    int idle;                /* nothing could be done since */
    int multiplying;         /* a device is at the next step's product */
    int64_t flops;           /* of the last product */
    int64_t announced[3];    /* device: of fill, step and sum, to those who cannot wait for events */
    int closed;              /* device: the end has been put on streams */
    hsumma_status failed;    /* the system or the device has refused something; C is not to be used here */
    struct hs_times times, last;
};

/* Steps of an execution at most: words of the directory have room for so many. */
enum { HS_NODE_STEP_BITS = 24, HS_NODE_STEPS = (1 << HS_NODE_STEP_BITS) - 2 };
/* Words count steps inside an execution: executions in front, and at its end the next one. */
static inline uint64_t hs_node_progress(uint64_t execution, int64_t steps)
{
    return execution << HS_NODE_STEP_BITS | (uint64_t)steps;
}
/* Bytes of shared memory of all processes together; negative: too many steps. */
int64_t hs_node_size(const struct hs_problem *problem, const struct hs_variant *variant, const struct hs_spec *spec);

/* problem and spec must outlive it; mate: of the memory of the problem's grid, all of whose ranks are in it.  Local;
 * what fails has left nothing behind. */
hsumma_status hs_node_init(struct hs_node_product *node, const struct hs_problem *problem, const struct hs_spec *spec,
                           const int *mate, const struct hs_allocator *memory, struct hs_message *message);
void hs_node_free(struct hs_node_product *node, const struct hs_allocator *memory);

/* Every process of the whole grid counts an execution in which the processes of `grid` (or of a part of it) take part,
 * on whatever nodes they are. */
uint64_t hs_node_count(struct hs_product_memory *shared, const struct hs_grid *grid);
/* Whether all that have used the memory before an execution are done with it, so that it may be written. */
int hs_node_vacant(struct hs_product_memory *shared, uint64_t execution);
/* This process is done with an execution. */
void hs_node_leave(struct hs_product_memory *shared, uint64_t execution);

/*
 * Begins it; where: of A and B, so that others can read them in place.  device: NULL, or what it runs on, with the
 * matrices in the device's memory.
 */
void hs_node_start(struct hs_node_product *node, struct hs_product_memory *shared, struct hs_node_device *device,
                   uint64_t execution, const void *alpha, const struct hs_matrix matrix[3],
                   const struct hs_where where[2], const void *beta, double begin);
/*
 * Moves it forward (hs_advance).  On a device it is done when everything has been put on streams, and what has failed
 * is told in node->failed alone: the others have to hear of it.
 */
hsumma_status hs_node_advance(void *node, int *worked, int *done);

#endif
