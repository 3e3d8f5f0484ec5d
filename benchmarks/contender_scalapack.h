/* ScaLAPACK's p?gemm on the same product, the same grid and the same local A and B, with a C of its own. */
#ifndef HSUMMA_BENCHMARKS_CONTENDER_SCALAPACK_H
#define HSUMMA_BENCHMARKS_CONTENDER_SCALAPACK_H

#include "problem.h"

typedef struct scalapack {
    int handle, context; /* of BLACS */
    int made;
    int desc[3][11]; /* of A, B and C */
    void *c;         /* this rank's part, as p->c.local */
    char how[160];   /* how it was run, for people */
} scalapack;

/* 1 if ScaLAPACK was compiled in. */
int scalapack_available(void);

/* Collective. Returns an exit status after printing what was wrong; undo with scalapack_free in any case. */
int scalapack_create(scalapack *s, const problem *p);
void scalapack_free(scalapack *s);

/* One product, C := alpha op(A) op(B) + beta C, with this rank's fair share of BLAS threads. Returns the seconds of
 * this rank. Collective. */
double scalapack_run(scalapack *s, const problem *p);

#endif
