/* The GEMM rate of the hardware without communication, measured in one of three ways (gemm_rate_kind). A product too
 * large for memory is replaced by a smaller one of the same proportions. */
#ifndef HS_BENCHMARKS_GEMM_RATE_H
#define HS_BENCHMARKS_GEMM_RATE_H

#include "product/problem.h"

/* Which ranks multiply, and what. */
typedef enum gemm_rate_kind {
    RATE_NODE,  /* rank 0 multiplies the whole product, with the BLAS threads of a node */
    RATE_LOCAL, /* rank 0 computes its own part of C, with one thread */
    RATE_ALL,   /* all ranks compute their own parts of C at once */
} gemm_rate_kind;

typedef struct gemm_rate {
    int64_t m, n, k; /* size of the product that is run */
    int shrunk;      /* 1: smaller than the requested product */
    double times;    /* the requested product's operations over those of one run */
    int threads;     /* BLAS threads of each multiplying rank; 1 if their number cannot be set */
    gemm_rate_kind kind;
    int copies;      /* the number of nodes (RATE_NODE) or of ranks in the grid, by which the rate is multiplied */
    double flops;    /* operations of one run; 0: nothing to measure */
    void *a, *b, *c; /* NULL on ranks that do not multiply */
} gemm_rate;

/* Chooses the size and allocates the matrices. RATE_NODE uses `threads` threads, which may exceed the cores; 0: one
 * per rank of the node, at most one per core. RATE_LOCAL uses one thread, RATE_ALL the rank's share of the cores.
 * Collective. Returns an exit status; always undo with gemm_rate_free. */
int gemm_rate_create(gemm_rate *rate, const problem *p, int threads, gemm_rate_kind kind);
void gemm_rate_free(gemm_rate *rate);

/* Runs one turn: multiplies `calls` times, while ranks that do not multiply sleep. Returns on every rank the seconds of
 * one multiplication: of rank 0's m x n x k; with RATE_ALL of the slowest rank, scaled to the requested product.
 * Collective. */
double gemm_rate_run(gemm_rate *rate, const problem *p, int calls);

#endif
