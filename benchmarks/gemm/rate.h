/* The GEMM rate of the hardware without communication, in one of three ways: one process with the BLAS threads of its
 * whole node on the product, or on the largest proportional one that fits in memory, times the number of nodes; one
 * thread on one rank's part, times the ranks; or all ranks at once on their own parts. */
#ifndef HS_BENCHMARKS_GEMM_RATE_H
#define HS_BENCHMARKS_GEMM_RATE_H

#include "product/problem.h"

/* Which ranks multiply, and what. */
typedef enum gemm_rate_kind {
    RATE_NODE,  /* rank 0, the whole product */
    RATE_LOCAL, /* rank 0, its part of C */
    RATE_ALL,   /* all ranks at once, their parts of C */
} gemm_rate_kind;

typedef struct gemm_rate {
    int64_t m, n, k; /* size of the product that is run */
    int shrunk;      /* 1: smaller than the requested product */
    double times;    /* the requested product's operations over those of one run */
    int threads;     /* BLAS threads of each multiplying rank; 1 if their number cannot be set */
    gemm_rate_kind kind;
    int copies;      /* the rate is multiplied by this number of nodes or ranks */
    double flops;    /* operations of one run; 0: nothing to measure */
    void *a, *b, *c; /* NULL on ranks that do not multiply */
} gemm_rate;

/* Chooses the size and allocates the matrices. RATE_NODE uses `threads` threads, which may exceed the cores; 0: one
 * per rank of the node, at most one per core. RATE_LOCAL uses one thread, RATE_ALL the rank's share of the cores.
 * Collective. Returns an exit status; always undo with gemm_rate_free. */
int gemm_rate_create(gemm_rate *rate, const problem *p, int threads, gemm_rate_kind kind);
void gemm_rate_free(gemm_rate *rate);

/* Runs one turn: multiplies `calls` times while the other ranks sleep. Returns the seconds of one product, on the
 * slowest rank, on every rank. Collective. */
double gemm_rate_run(gemm_rate *rate, const problem *p, int calls);

#endif
