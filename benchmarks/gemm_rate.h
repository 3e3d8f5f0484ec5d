/* The rate that the hardware gives away without any communication: one process with the BLAS threads of its whole node
 * on the same product, or on the largest proportional one that fits in memory, times the number of nodes. */
#ifndef HSUMMA_BENCHMARKS_GEMM_RATE_H
#define HSUMMA_BENCHMARKS_GEMM_RATE_H

#include "problem.h"

typedef struct gemm_rate {
    int64_t m, n, k; /* of the product that is run */
    int shrunk;      /* smaller than the one asked for */
    int threads;     /* min(ranks of a node, its cores); 1 if the BLAS cannot be told */
    double flops;    /* of one run; 0: nothing to measure */
    void *a, *b, *c; /* on rank 0 */
} gemm_rate;

/* Chooses the size and makes the matrices, on rank 0. Collective. Returns an exit status; undo with gemm_rate_free. */
int gemm_rate_create(gemm_rate *rate, const problem *p);
void gemm_rate_free(gemm_rate *rate);

/* One turn: rank 0 multiplies `calls` times, all others sleep. Returns the seconds of one product, on every rank.
 * Collective. */
double gemm_rate_run(gemm_rate *rate, const problem *p, int calls);

#endif
