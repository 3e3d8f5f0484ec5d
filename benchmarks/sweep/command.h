/* The figure of the HSUMMA paper: time against the number of groups. */
#ifndef HS_BENCHMARKS_SWEEP_COMMAND_H
#define HS_BENCHMARKS_SWEEP_COMMAND_H

#include <stdio.h>

#include "check/result.h"
#include "measure/timing.h"
#include "product/group_grids.h"
#include "product/turn.h"

/* One way of grouping the grid. */
typedef struct candidate {
    group_grid grid; /* of groups; zeros, with the name "SUMMA", for SUMMA */
    char mark[3];    /* what a table says of best_of_g and best */
    hsumma_plan *plan;
    hsumma_plan_info info;
    char message[400];     /* why there is no plan */
    double *times, *comms; /* one per round: total and communication, of the slowest rank each */
    double *gemms;
    spread total, comm, gemm;
    spread ratio; /* SUMMA's time to this one's, round by round */
    plan_sent sent;
    int best_of_g, best; /* the fastest of those with as many groups, of all of HSUMMA */
    int chosen;          /* the library's own choice of groups */
    int checked;
    check_outcome check;
} candidate;

/* What the library does when it is not told the groups. */
typedef struct automatic {
    char line[1280];   /* its plan; "" if there is none */
    char shared[1280]; /* ... if the node's shared memory, which has no groups, is to be used; "": it is not */
    double predicted_s, predicted_comm_s;
} automatic;

typedef struct sweep {
    problem p;
    candidate *candidates; /* SUMMA first, then in the order of group_grids */
    int count;
    automatic own;
} sweep;

/* Prints in the format of the arguments. Call it on rank 0. Returns 0 if writing failed. */
int sweep_report(const sweep *s, FILE *file);

/* Draws total and communication time of the best of each G as measured and as predicted, SUMMA as horizontal lines, and
 * marks the library's own choice. Returns NULL or a complaint. */
const char *sweep_plot(const sweep *s, const char *path);

#endif
