/* One turn of a contender: a product, timed. */
#ifndef HS_BENCHMARKS_PRODUCT_TURN_H
#define HS_BENCHMARKS_PRODUCT_TURN_H

#include <mpi.h>

#include "base/simulator.h"
#include "product/pblas.h"
#include "product/problem.h"

/* Through which routine the product is made. */
typedef enum api { API_PLAN, API_CALL, API_PDGEMM, API_SCALAPACK, API_COUNT } api;
extern const char *const api_names[API_COUNT];

/* Whose turn it is. Everything is borrowed. */
typedef struct gemm_contender {
    api how;
    hsumma_plan *plan;  /* for API_PLAN */
    const pblas *blacs; /* for API_PDGEMM and API_SCALAPACK */
    void *c;            /* this rank's part of the contender's C */
} gemm_contender;

/* What one product took: of the slowest rank, except the shares of all ranks' time. All but seconds are NaN where only
 * the caller's clock is known, which is everywhere but with API_PLAN. */
typedef struct turn {
    double seconds, comm, gemm, copy;
    double comm_share, gemm_share, copy_share, wait_share; /* wait is a part of comm */
    double library_share;                                  /* all but GEMM, copies and waits */
    struct hs_simulated_links links; /* what they have carried, on rank 0 of a simulated run that asks for it */
    double timed_share;              /* the plan's own seconds of those that its caller has measured around it */
} turn;

/* Refreshes C, waits for everybody, multiplies `calls` times in a row and divides the seconds by that (of the parts,
 * the last call's are reported). On a device the time is from when nothing is under way to when all is over. Returns an
 * exit status after printing what was wrong. Collective. */
int execute_turn(const problem *p, const gemm_contender *who, int calls, turn *t);

/* What a plan's last execution has sent and its workspace: of the rank that has most of each. Collective. */
typedef struct plan_sent {
    int64_t bytes, messages, workspace;
} plan_sent;
plan_sent plan_sent_of(const problem *p, const hsumma_plan_info *info);

#endif
