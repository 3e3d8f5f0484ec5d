/*
 * The product inside one node, through shared memory, without messages.
 *
 * The looped dimension is cut into panels in its natural order, as wide as the local GEMM likes whatever the blocking;
 * so a panel may have several owners.  One pinned dimension is cut into chunks, so that the data handed over at a time
 * fit into a cache.  A step is a panel and a chunk.  Each owner copies its part of a step's tiles of A and B into
 * shared memory once, for all readers and from any layout (fill_and_sum.c); the readers multiply from there (node.c).
 * Data in the reader's own memory, or in memory that the readers have mapped, are read in place.  Where C moves
 * (stationary A or B: layers over k), each process computes its partial result in shared memory, and the owners of C
 * add these up in the order of the line.
 *
 * Counters in the directory publish how many steps each process has done: a process waits only for those whose data it
 * reads or overwrites.  All processes do the steps in the same order, and each fills, multiplies or sums whatever can
 * be done next.  The first step that is not complete everywhere can always proceed, so there is no deadlock.
 */
#ifndef HS_SUMMA_NODE_NODE_H
#define HS_SUMMA_NODE_NODE_H

#include "base/memory.h"
#include "summa/node_memory.h"
#include "summa/pack.h"

/* Ranks for which this one waits, by index in the directory, with their coordinates on the axis of the looped
 * dimension. */
struct hs_peers {
    int count;
    int *rank, *coord;
};

/* A moving operand: A or B on its way to the readers, or C on its way to its owners. */
struct hs_supply {
    int operand;
    const struct hs_role *role;
    int lines;     /* parts of a tile: one for each line of processes that needs it; of C one for each process */
    int64_t ld;    /* leading dimension of a part */
    int64_t pitch; /* bytes from one part to the next */
    int ring;      /* number of tiles in the ring */
    size_t at;     /* offset of the ring in the shared memory */
    /* The ranks that fill the part that this process reads; of C: that add up its partial result. */
    struct hs_peers givers;
    struct hs_peers takers; /* the ranks that read what this process fills; of C: whose partial results it adds up */
    int8_t *gives;          /* per line: whether this process has something of it; NULL: nothing for any line */
};

/* A place in memory that all processes of the node have mapped (region and offset). */
struct hs_where {
    int64_t region, offset; /* region -1: not in such memory */
};

struct hs_node_device; /* on_device.h */

struct hs_node_product {
    const struct hs_problem *problem;
    const struct hs_spec *spec;
    struct hs_variant variant;
    int64_t panels, chunks, steps;
    struct hs_supply in[2]; /* moving A and B */
    int ins;
    struct hs_supply out; /* C, if it moves */
    int outs;             /* 0 or 1 */
    int64_t local[3];     /* local extents of the pinned dimensions */
    int *peers_memory;    /* memory of all hs_peers */
    int8_t *lines_memory;
    size_t bytes; /* of shared memory, for all processes together */

    /* Of the current execution. */
    struct hs_product_memory *shared;
    struct hs_node_device *device; /* runs it; NULL: the host does */
    char *tiles;                   /* in shared memory, or in device memory */
    uint64_t execution;
    int running, entered;
    union hs_value alpha, beta;
    struct hs_matrix matrix[3];
    int64_t fill, step, sum; /* the next step to fill and to multiply, the next panel to sum */
    int direct[2];           /* of A and B: readers read this process's matrix in place */
    double mark;             /* when the clock was last read */
    int idle;                /* nothing could be done since then */
    int multiplying;         /* a device is doing the next step's product */
    int64_t flops;           /* of the last product */
    /* On a device: the steps of fill, step and sum signalled to processes that cannot wait for events. */
    int64_t announced[3];
    int closed;           /* device: the end of the execution has been enqueued */
    hsumma_status failed; /* first error of the system or the device; the result in C is then invalid */
    struct hs_times times, last;
};

/* Most steps of an execution: the bits that a counter has for them. */
enum { HS_NODE_STEP_BITS = 24, HS_NODE_STEPS = (1 << HS_NODE_STEP_BITS) - 2 };
/* The value of a counter after `steps` steps of an execution: the execution number is in the upper bits. */
static inline uint64_t hs_node_progress(uint64_t execution, int64_t steps)
{
    return execution << HS_NODE_STEP_BITS | (uint64_t)steps;
}
/* Bytes of shared memory of all processes together; negative: too many steps. */
int64_t hs_node_size(const struct hs_problem *problem, const struct hs_variant *variant, const struct hs_spec *spec);

/* problem and spec must outlive the node product.  mate: that of the product memory of the problem's grid, all of whose
 * ranks are on this node.  Local; on failure nothing stays allocated. */
hsumma_status hs_node_init(struct hs_node_product *node, const struct hs_problem *problem, const struct hs_spec *spec,
                           const int *mate, const struct hs_allocator *memory, struct hs_message *message);
void hs_node_free(struct hs_node_product *node, const struct hs_allocator *memory);

/* Counts an execution by the processes of `grid`, which may be a part of the whole grid; returns its number.  Every
 * process of the whole grid must call it, on all nodes. */
uint64_t hs_node_count(struct hs_product_memory *shared, const struct hs_grid *grid);
/* Whether all processes that used the memory before an execution have finished with it, so that it may be written. */
int hs_node_vacant(struct hs_product_memory *shared, uint64_t execution);
/* Signals that this process has finished an execution. */
void hs_node_leave(struct hs_product_memory *shared, uint64_t execution);

/*
 * Begins an execution.  where: places of A and B for in-place reads by others.  device: NULL, or the device that runs
 * it, in whose memory the matrices are.
 */
void hs_node_start(struct hs_node_product *node, struct hs_product_memory *shared, struct hs_node_device *device,
                   uint64_t execution, const void *alpha, const struct hs_matrix matrix[3],
                   const struct hs_where where[2], const void *beta, double begin);
/*
 * Moves the execution forward (hs_advance).  On a device it is done when everything has been enqueued; failures are
 * then only in node->failed, and the caller must report them to the other processes.
 */
hsumma_status hs_node_advance(void *node, int *worked, int *done);

#endif
