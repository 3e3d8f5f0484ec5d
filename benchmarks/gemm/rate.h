/* The rate that the hardware gives away without any communication: one process with the BLAS threads of its whole node
 * on the same product, or on the largest proportional one that fits in memory, times the number of nodes. Or one thread
 * on one rank's part of it, times the ranks. */
#ifndef HS_BENCHMARKS_GEMM_RATE_H
#define HS_BENCHMARKS_GEMM_RATE_H

#include "product/problem.h"

typedef struct gemm_rate {
    int64_t m, n, k; /* of the product that is run */
    int shrunk;      /* smaller than the one asked for */
    int threads;     /* 1 if the BLAS cannot be told */
    int local;       /* rank 0's part only */
    int copies;      /* that work at once by this reckoning: nodes, or ranks */
    double flops;    /* of one run; 0: nothing to measure */
    void *a, *b, *c; /* on rank 0 */
} gemm_rate;

/* Chooses the size and makes the matrices, on rank 0. With threads = 0 there are as many as ranks of a node, at most
 * one for each of its cores; more share the cores. local: rank 0's part of C alone, by one thread. Collective. Returns
 * an exit status; undo with gemm_rate_free. */
int gemm_rate_create(gemm_rate *rate, const problem *p, int threads, int local);
void gemm_rate_free(gemm_rate *rate);

/* One turn: rank 0 multiplies `calls` times, all others sleep. Returns the seconds of one product, on every rank.
 * Collective. */
double gemm_rate_run(gemm_rate *rate, const problem *p, int calls);

#endif
