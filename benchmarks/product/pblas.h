/* p?gemm, ScaLAPACK's or hsumma's, on the same product, the same grid and the same local matrices. */
#ifndef HS_BENCHMARKS_PRODUCT_PBLAS_H
#define HS_BENCHMARKS_PRODUCT_PBLAS_H

#include "product/problem.h"

typedef struct pblas {
    int handle, context; /* of BLACS */
    int made;
    int desc[3][11]; /* of A, B and C */
    char how[200];   /* how ScaLAPACK's is run, for people */
} pblas;

typedef enum pblas_maker { PBLAS_SCALAPACK, PBLAS_HSUMMA } pblas_maker;

/* 1 if ScaLAPACK was compiled in. */
int pblas_available(void);

/* Collective. Returns an exit status after printing what was wrong; undo with pblas_free in any case. */
int pblas_create(pblas *b, const problem *p);
void pblas_free(pblas *b);

/* C := alpha op(A) op(B) + beta C, `calls` times in a row, c being this rank's part of C. ScaLAPACK's routine gets this
 * rank's fair share of BLAS threads; hsumma's sees to that itself. Returns the seconds of this rank. Collective. */
double pblas_run(const pblas *b, const problem *p, pblas_maker maker, void *c, int calls);

#endif
