/* The whole product on one process's device, in turns with the distributed one: the device's speed without
 * communication. It is a plan of the library for one process, which calls the device's BLAS once. */
#ifndef HS_BENCHMARKS_GEMM_ALONE_H
#define HS_BENCHMARKS_GEMM_ALONE_H

#include "check/result.h"
#include "product/turn.h"

typedef struct gemm_alone {
    arguments args;
    problem host, placed; /* on rank 0: the problem with matrices in host memory, and in device memory */
    hsumma_plan *plan;
} gemm_alone;

/* All but gemm_alone_free are collective over p's communicator and return an exit status, the same on all ranks, after
 * printing an error. Of the options only `device` is used. Always call gemm_alone_free. */
int gemm_alone_create(gemm_alone *alone, const problem *p, const char *options);
int gemm_alone_turn(gemm_alone *alone, const problem *p, int calls, turn *t);
/* Checks the result only if strict, because the check takes long on one process; otherwise reports it as passed. */
int gemm_alone_check(gemm_alone *alone, const problem *p, int strict, check_outcome *out);
void gemm_alone_free(gemm_alone *alone);

#endif
