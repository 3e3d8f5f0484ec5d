/* hsumma sweep: the figure of the HSUMMA paper, time against the number of groups. */
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
    char mark[3];    /* shows best_of_g and best in a table */
    hsumma_plan *plan;
    hsumma_plan_info info;
    char message[400];     /* why there is no plan */
    double *times, *comms; /* by round: total and communication, each of the slowest rank */
    double *gemms;
    spread total, comm, gemm;
    spread ratio; /* SUMMA's time over this one's, by round */
    plan_sent sent;
    int best_of_g, best; /* fastest with this number of groups; fastest of all groupings but SUMMA's */
    int chosen;          /* the library's own choice of groups */
    int checked;
    check_outcome check;
} candidate;

/* The library's plans if no groups are given. */
typedef struct automatic {
    char line[1280];   /* the plan chosen among those that share no panels inside nodes; "" if there is none */
    char shared[1280]; /* the plan chosen among all, if it shares panels inside nodes; else "" */
    double predicted_s, predicted_comm_s;
} automatic;

typedef struct sweep {
    problem p;
    candidate *candidates; /* SUMMA first, then in the order of group_grids */
    int count;
    automatic own;
} sweep;

/* Prints the report in the format of the arguments. On rank 0 only. Returns 0 if writing failed. */
int sweep_report(const sweep *s, FILE *file);

/* Draws total and communication time of the fastest grouping for each number of groups, measured and predicted, with
 * SUMMA as horizontal lines, and marks the library's own choice. NULL, or an error message. */
const char *sweep_plot(const sweep *s, const char *path, struct hs_message *message);

#endif
