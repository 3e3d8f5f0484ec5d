/*
 * The product inside one node, through shared memory, without messages.
 *
 * The looped dimension is cut into panels of width hs_spec.width[0] in its natural order, whatever the blocking, so a
 * panel may have several owners.  One pinned dimension may be cut into chunks, so that the tiles of a step fit into a
 * cache.  A step is a panel and a chunk.  Each owner copies its part of a step's tiles of A and B into shared memory
 * once, for all readers and from any layout (fill_and_sum.c); the readers multiply from there (node.c).  Where the
 * layout permits (hs_supply_owner), a panel in the reader's own matrix, or in memory that all processes have mapped, is
 * read in place.  Where C moves (stationary A or B), each process computes its partial result in shared memory, and the
 * owners of C add these up in the order of the line.
 *
 * Counters in the directory publish how many steps each process has done.  A process waits only for processes whose
 * data it reads or overwrites.  All processes do the steps in the same order, and each fills, multiplies or sums as
 * soon as it can.  The first step that is not complete everywhere can always proceed, so there is no deadlock.
 */
#ifndef HS_SUMMA_NODE_NODE_H
#define HS_SUMMA_NODE_NODE_H

#include "base/memory.h"
#include "summa/node_memory.h"
#include "summa/pack.h"
#include "summa/shared_crc.h"

/* Ranks that this process waits for: rank[] are indices in the directory, coord[] are coordinates on the grid axis of
 * the looped dimension, place[] are indices in the grid (hs_grid_index). */
struct hs_peers {
    int count;
    int *rank, *coord, *place;
};

/* A moving operand.  The owners of A or B fill tiles for the readers; the owners of C add up partial results. */
struct hs_supply {
    int operand;
    const struct hs_role *role;
    int lines;     /* number of parts of a tile: one per line of processes; for C one per process */
    int64_t ld;    /* leading dimension of a part */
    int64_t pitch; /* distance in bytes between consecutive parts */
    size_t crcs;   /* offset of a part's CRCs in the part (hs_spec.checked) */
    int ring;      /* number of tiles in the ring */
    size_t at;     /* offset of the ring in the shared memory */
    /* The ranks that fill the part that this process reads; for C, the ranks that add up its partial result. */
    struct hs_peers givers;
    /* The ranks that read parts that this process fills; for C, the ranks whose partial results it adds up. */
    struct hs_peers takers;
    /* gives[line]: whether this process fills some of the line's part; for C, whether it adds up some of the line's
     * results. */
    int8_t *gives;
};

/* A place in memory that all processes of the node have mapped (region and offset). */
struct hs_where {
    int64_t region, offset; /* region is -1 for memory that is not mapped by all */
};

/*
 * The even division (hs_variant.even, node/even.c).  Each process multiplies an equal part of C into shared memory; the
 * owners of C then add these parts to their own.  A process that owns all that it needs of an operand uses its own
 * matrix instead.
 */
struct hs_even {
    int own[3];             /* whether this process owns all of an operand that its part of the product needs */
    int64_t ld, pitch;      /* leading dimension of a part of C; distance in bytes between parts, one per process */
    size_t at;              /* offset of the parts in the shared memory */
    size_t crcs;            /* offset of a part's CRCs in the part (hs_spec.checked) */
    struct hs_peers makers; /* the ranks that compute elements of C for this process */
    int collected;          /* state of the current execution: 1 once this process has added up the makers' parts */
};

struct hs_node_device; /* on_device.h */

struct hs_node_product {
    const struct hs_problem *problem;
    const struct hs_spec *spec;
    struct hs_variant variant;
    int64_t panels, chunks, steps;
    struct hs_supply in[2]; /* A and B, as far as they move */
    int ins;
    struct hs_supply out; /* C, if it moves */
    int outs;             /* 0 or 1 */
    struct hs_even even;
    int64_t local[3];  /* local extents of the pinned dimensions */
    int *peers_memory; /* memory of all hs_peers */
    int8_t *lines_memory;
    size_t bytes; /* bytes of shared memory for all processes together */

    /* State of the current execution. */
    struct hs_product_memory *shared;
    struct hs_comm *checks;        /* hs_checking */
    struct hs_node_device *device; /* runs the execution; NULL if the host runs it */
    char *tiles;                   /* in shared memory, or in device memory */
    uint64_t execution;
    int running, entered;
    union hs_value alpha, beta;
    struct hs_matrix matrix[3];
    int64_t fill, step, sum; /* the next step to fill, the next step to multiply, the next panel to sum */
    int direct[2];           /* for A and B, 1 if readers may read this process's matrix in place */
    double mark;             /* time at which the clock was last read */
    int idle;                /* 1 if nothing could be done since `mark` */
    int multiplying;         /* 1 while a device computes the product of `step` */
    int64_t flops;           /* flops of the last product */
    /* On a device whose events other processes cannot wait for: the values of fill, step and sum signalled so far. */
    int64_t announced[3];
    int closed;           /* 1 after the end of the execution has been enqueued on a device */
    hsumma_status failed; /* first error of a local product or of the device; the result in C is then invalid */
    struct hs_times times, last;
};

/* The number of bits that a counter has for the steps of an execution, and the maximum number of these steps. */
enum { HS_NODE_STEP_BITS = 24, HS_NODE_STEPS = (1 << HS_NODE_STEP_BITS) - 2 };
/* The value of a counter after `steps` steps of an execution: the execution number is in the upper bits. */
static inline uint64_t hs_node_progress(uint64_t execution, int64_t steps)
{
    return execution << HS_NODE_STEP_BITS | (uint64_t)steps;
}
/* Bytes of shared memory for all processes together; negative if there are too many steps, INT64_MAX if the tiles are
 * larger than any memory. */
int64_t hs_node_size(const struct hs_problem *problem, const struct hs_variant *variant, const struct hs_spec *spec);

/* Makes a node product.  problem and spec must outlive it.  mates: hs_product_memory.mates of the problem's grid, whose
 * ranks must all be on this node.  Local; after an error nothing stays allocated.  HSUMMA_ERR_MEMORY, or an error of
 * hs_variant_make. */
hsumma_status hs_node_init(struct hs_node_product *node, const struct hs_problem *problem, const struct hs_spec *spec,
                           const struct hs_mates *mates, const struct hs_allocator *memory, struct hs_message *message);
void hs_node_free(struct hs_node_product *node, const struct hs_allocator *memory);

/* Implemented in executions.c, also for products over messages.  Numbers an execution by the processes of `grid`, which
 * may be a part of the whole grid, and returns the number. Every process of the whole grid must call this function, on
 * all nodes. */
uint64_t hs_node_count(struct hs_product_memory *shared, const struct hs_grid *grid);
/* Whether all other processes of this node have finished the executions before `execution`, so that this execution may
 * write to the shared memory. */
int hs_node_vacant(struct hs_product_memory *shared, uint64_t execution);
/* The last execution before `execution` in which a rank may have used the memory; 0 if there is none. */
uint64_t hs_node_taken_before(const struct hs_product_memory *shared, uint64_t execution, int rank);
/* Signals that this process has finished an execution. */
void hs_node_leave(struct hs_product_memory *shared, uint64_t execution);

/*
 * Begins an execution.  checks: hs_checking; if not NULL, nothing is read in place from another process.  where: places
 * of A and B from which other processes may read them.  device: NULL, or the device that runs the execution and has the
 * matrices in its memory.  begin: the time (hs_now) from which the execution is timed.
 */
void hs_node_start(struct hs_node_product *node, struct hs_product_memory *shared, struct hs_comm *checks,
                   struct hs_node_device *device, uint64_t execution, const void *alpha,
                   const struct hs_matrix matrix[3], const struct hs_where where[2], const void *beta, double begin);
/*
 * Advances the execution (an hs_advance function).  With a device, *done is set when all work has been enqueued or, if
 * other processes cannot wait for its events, completed; errors are only in node->failed, not returned, and the caller
 * must report them to the other processes.
 */
hsumma_status hs_node_advance(void *node, int *worked, int *done);

#endif
