/* One timed execution of a plan. */
#ifndef HSUMMA_BENCHMARKS_TURN_H
#define HSUMMA_BENCHMARKS_TURN_H

#include <mpi.h>

#include "problem.h"

/* What one execution took: of the slowest rank, except comm_share, the share of all ranks' time. */
typedef struct turn {
    double seconds, comm, gemm, copy, comm_share;
} turn;

/* Refreshes C, waits for everybody, executes. Returns an exit status after printing what was wrong. Collective. */
int execute_turn(const problem *p, hsumma_plan *plan, turn *t);

#endif
