/* The rate that the hardware gives away without any communication: one process with the BLAS threads of its whole node
 * on the same product, or on the largest proportional one that fits in memory, times the number of nodes. Or one thread
 * on one rank's part of it, times the ranks. Or every rank on its own part, all at once. */
#ifndef HS_BENCHMARKS_GEMM_RATE_H
#define HS_BENCHMARKS_GEMM_RATE_H

#include "product/problem.h"

/* Who multiplies what. */
typedef enum gemm_rate_kind {
    RATE_NODE,  /* rank 0 the whole product */
    RATE_LOCAL, /* rank 0 its part of C */
    RATE_ALL,   /* every rank its part of C, at the same time */
} gemm_rate_kind;

typedef struct gemm_rate {
    int64_t m, n, k; /* of the product that is run */
    int shrunk;      /* smaller than the one asked for, */
    double times;    /* which has so many times its operations */
    int threads;     /* 1 if the BLAS cannot be told */
    gemm_rate_kind kind;
    int copies;      /* that work at once by this reckoning: nodes, or ranks */
    double flops;    /* of one run; 0: nothing to measure */
    void *a, *b, *c; /* on ranks that multiply */
} gemm_rate;

/* Chooses the size and makes the matrices. With threads = 0 the whole product has as many as ranks of a node, at most
 * one for each of its cores; more share the cores. Parts have one thread, or all have theirs of the cores. Collective.
 * Returns an exit status; undo with gemm_rate_free. */
int gemm_rate_create(gemm_rate *rate, const problem *p, int threads, gemm_rate_kind kind);
void gemm_rate_free(gemm_rate *rate);

/* One turn: who multiplies does so `calls` times, all others sleep. Returns the seconds of one product, of the slowest,
 * on every rank. Collective. */
double gemm_rate_run(gemm_rate *rate, const problem *p, int calls);

#endif
