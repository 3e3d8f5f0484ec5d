/* The bytes that a product moves, those that its layout requires, and the lower bound for any layout. */
#ifndef HS_BENCHMARKS_PRODUCT_BOUNDS_H
#define HS_BENCHMARKS_PRODUCT_BOUNDS_H

#include "hsumma/plan/plan.h"

/* Counting for more processes would take too long. */
enum { BOUNDS_COUNTED = 1024 };

/* The most that any process, or any node, receives; each maximum is taken separately. */
typedef struct bound_side {
    int64_t bytes, messages;     /* received according to the plan's step lists; -1: not counted */
    int64_t layout;              /* bytes that must enter in this layout (summa/entering.h); -1: not counted */
    double theory;               /* bytes that some process or node must send or receive in any layout (dist/bound.h) */
    double to_layout, to_theory; /* `bytes` over `layout` and over `theory`; NaN if meaningless */
} bound_side;

typedef struct product_bounds {
    int nodes; /* number of nodes of the plan's processes */
    bound_side process, node;
    int64_t must_enter; /* bytes that must enter all nodes together; -1: not counted */
    double memory;      /* elements per process assumed by the theory: its share of A, B and C, and workspace */
    /* what takes longest in the model, each taken alone: "bytes", "messages" or "cores"; NULL: unknown */
    const char *limit;
    double bytes_s, messages_s, cores_s;
    double byte, message; /* seconds per byte and per message, as assumed for bytes_s and messages_s */
} product_bounds;
extern const product_bounds bounds_unknown;

/* Counts of messages and bytes into each process and each node. */
typedef struct bounds_count {
    struct hs_topology alone; /* a topology with one rank per node */
    const struct hs_division *node;
    int64_t *sums; /* messages into each process, bytes into each process; then the same for the nodes */
    int size;      /* length of sums */
} bounds_count;

/* Fails only with HSUMMA_ERR_MEMORY. Always call bounds_count_free. */
hsumma_status bounds_count_create(bounds_count *count, const struct hs_division *node);
/* Adds the messages and bytes that this loop's process sends to the sums of their receivers. */
void bounds_count_add(bounds_count *count, const struct hs_loop *loop);
void bounds_count_free(bounds_count *count);

/* count: summed over all processes; NULL: not counted. workspace: bytes on the process that has most. */
hsumma_status bounds_of(product_bounds *bounds, const bounds_count *count, const hsumma_plan *plan,
                        const hsumma_plan_info *info, int64_t workspace);

#endif
