/* One turn of a contender: a timed product. */
#ifndef HS_BENCHMARKS_PRODUCT_TURN_H
#define HS_BENCHMARKS_PRODUCT_TURN_H

#include "base/simulator.h"
#include "product/pblas.h"
#include "product/problem.h"

/* The routine that multiplies. */
typedef enum api { API_PLAN, API_CALL, API_PDGEMM, API_SCALAPACK, API_COUNT } api;
extern const char *const api_names[API_COUNT];

/* A contender. Everything is borrowed. */
typedef struct gemm_contender {
    api how;
    hsumma_plan *plan;  /* for API_PLAN */
    const pblas *blacs; /* for API_PDGEMM and API_SCALAPACK */
    void *c;            /* this rank's part of the contender's C */
} gemm_contender;

/* The times of one product, on the slowest rank; shares are fractions of the time of all ranks. All times and shares
 * but seconds are NaN unless the routine is API_PLAN, because the others report no times of their own. */
typedef struct turn {
    double seconds, comm, gemm, copy;
    double comm_share, gemm_share, copy_share, wait_share; /* wait_share is a part of comm_share */
    double library_share;                                  /* all time except GEMM, copies and waits */
    struct hs_simulated_links links; /* set on rank 0 of a simulated run with HSUMMA_SIM_LINKS; else zero */
    double timed_share;              /* the plan's own seconds over the seconds measured around the call */
} turn;

/* Calls the one-call routine of the problem's type; c: this rank's part of C. Collective. */
hsumma_status call_gemm(const problem *p, void *c);

/* Refreshes C, waits for all ranks, and multiplies `calls` times; seconds are per call, the parts are of the last call.
 * On a device the time runs from an idle device until all work is complete. Returns an exit status, after printing an
 * error. Collective. */
int execute_turn(const problem *p, const gemm_contender *who, int calls, turn *t);

/* Bytes and messages that a plan's last execution sent, and its workspace; each on the rank with most. Collective. */
typedef struct plan_sent {
    int64_t bytes, messages, workspace;
} plan_sent;
plan_sent plan_sent_of(const problem *p, const hsumma_plan_info *info);

#endif
