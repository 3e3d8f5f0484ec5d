/* What the links between nodes and the local GEMM allow: the link's time for the bytes that must enter the node that
 * gets most, and then the GEMM alone. */
#ifndef HS_BENCHMARKS_GEMM_LINK_H
#define HS_BENCHMARKS_GEMM_LINK_H

#include "gemm/rate.h"

typedef struct gemm_link {
    double rate;          /* bits per second that the link of a node carries each way; 0: nothing is asked */
    int64_t *bytes, most; /* that must enter each node, and the most of them */
    gemm_rate alone;
} gemm_link;

/* plan: of the problem; NULL: one is made.  Collective; an exit status, after printing.  Free in any case. */
int gemm_link_create(gemm_link *link, problem *p, hsumma_plan *plan, double rate);
void gemm_link_free(gemm_link *link);

/* One turn: seconds of both.  Collective. */
double gemm_link_turn(gemm_link *link, const problem *p, int calls);

/* Seconds of the link. */
double gemm_link_seconds(const gemm_link *link);

#endif
