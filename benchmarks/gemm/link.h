/* A reference for the times of products: the time of a node's link for the bytes that must enter the busiest node, plus
 * that of the local GEMMs alone. A product that overlaps the two can be faster. */
#ifndef HS_BENCHMARKS_GEMM_LINK_H
#define HS_BENCHMARKS_GEMM_LINK_H

#include "gemm/rate.h"

typedef struct gemm_link {
    double rate;          /* bits per second that a node's link carries each way; 0: not used */
    int64_t *bytes, most; /* bytes that must enter each node, and their maximum */
    gemm_rate alone;
} gemm_link;

/* plan: a plan of the problem, or NULL to make one. Collective; an exit status, after printing an error. Always call
 * gemm_link_free. */
int gemm_link_create(gemm_link *link, problem *p, hsumma_plan *plan, double rate);
void gemm_link_free(gemm_link *link);

/* Runs one turn and returns the seconds of the link plus the GEMMs; 0 if not used. Collective. */
double gemm_link_turn(gemm_link *link, const problem *p, int calls);

/* Seconds that the link takes for the bytes of the busiest node; 0 if not used. */
double gemm_link_seconds(const gemm_link *link);

#endif
