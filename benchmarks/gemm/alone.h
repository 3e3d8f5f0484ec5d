/* The whole product by one process on its device, in turns with the distributed one: what the device gives when nobody
 * has to be told anything.  Through the library, whose product on one process is one call of the device's BLAS. */
#ifndef HS_BENCHMARKS_GEMM_ALONE_H
#define HS_BENCHMARKS_GEMM_ALONE_H

#include "check/result.h"
#include "product/turn.h"

typedef struct gemm_alone {
    arguments args;
    problem host, placed; /* of rank 0 alone: matrices on the host, and in its device's memory */
    hsumma_plan *plan;
} gemm_alone;

/* All of these are collective over p's communicator and return an exit status, the same everywhere, after printing
 * what was wrong.  options: the library's, of which only the device is kept.  Free in any case. */
int gemm_alone_create(gemm_alone *alone, const problem *p, const char *options);
int gemm_alone_turn(gemm_alone *alone, const problem *p, int calls, turn *t);
/* Only when asked strictly: one process takes long for all entries.  Else nothing but `passed` is set in *out. */
int gemm_alone_check(gemm_alone *alone, const problem *p, int strict, check_outcome *out);
void gemm_alone_free(gemm_alone *alone);

#endif
