/* What a product moves, against what it must: by its layout, and by theory whatever the layout. */
#ifndef HS_BENCHMARKS_PRODUCT_BOUNDS_H
#define HS_BENCHMARKS_PRODUCT_BOUNDS_H

#include "hsumma/plan/plan.h"

/* Counts of more processes would take too long. */
enum { BOUNDS_COUNTED = 1024 };

/* Of the process, or the node, that receives most. */
typedef struct bound_side {
    int64_t bytes, messages;     /* received by the plan's step lists; -1: not counted */
    int64_t layout;              /* bytes that must enter (summa/entering.h); -1: not counted */
    double theory;               /* bytes that some process or node must send or receive (dist/bound.h) */
    double to_layout, to_theory; /* ratios; NaN where they say nothing */
} bound_side;

typedef struct product_bounds {
    int nodes; /* that the plan's processes are on */
    bound_side process, node;
    int64_t must_enter; /* all nodes; -1: not counted */
    double memory;      /* elements of a process, on which the theory's bound rests: A, B and C evenly, and workspace */
    /* What the model says that each part takes alone, and which takes longest; NULL: not known */
    const char *limit;
    double bytes_s, messages_s, cores_s;
    double byte, message; /* seconds that the first two rest on */
} product_bounds;
extern const product_bounds bounds_unknown;

/* Messages and bytes into each process and each node. */
typedef struct bounds_count {
    struct hs_topology alone; /* every rank is a node */
    const struct hs_division *node;
    int64_t *sums; /* messages and bytes into processes, then into nodes */
    int size;      /* numbers in sums */
} bounds_count;

/* HSUMMA_ERR_MEMORY.  Free in any case. */
hsumma_status bounds_count_create(bounds_count *count, const struct hs_division *node);
/* Adds what the process of this loop sends. */
void bounds_count_add(bounds_count *count, const struct hs_loop *loop);
void bounds_count_free(bounds_count *count);

/* count: of all processes, NULL: not counted.  workspace: bytes, of the process that needs most. */
hsumma_status bounds_of(product_bounds *bounds, const bounds_count *count, const hsumma_plan *plan,
                        const hsumma_plan_info *info, int64_t workspace);

#endif
