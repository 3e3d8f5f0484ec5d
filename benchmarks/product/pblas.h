/* p?gemm, of ScaLAPACK or hsumma, on the same product, grid and local matrices. */
#ifndef HS_BENCHMARKS_PRODUCT_PBLAS_H
#define HS_BENCHMARKS_PRODUCT_PBLAS_H

#include "product/problem.h"

/* BLACS has no header. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int *context, int *ranks, int ld, int nprow, int npcol);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridexit(int context);

typedef struct pblas {
    int handle, context; /* BLACS handle and context */
    int made;
    int desc[3][11]; /* descriptors of A, B and C */
    char how[200];   /* how ScaLAPACK's routine runs, for the report */
} pblas;

typedef enum pblas_maker { PBLAS_SCALAPACK, PBLAS_HSUMMA } pblas_maker;

/* Collective. Returns an exit status after printing an error (always if HSUMMA_HAVE_SCALAPACK is 0); always undo with
 * pblas_free. */
int pblas_create(pblas *b, const problem *p);
void pblas_free(pblas *b);

/* C := alpha op(A) op(B) + beta C, `calls` times; c is this rank's part of C. ScaLAPACK's routine gets this rank's
 * share of BLAS threads; hsumma's sets its own number. Returns the seconds of all calls on this rank. Collective. */
double pblas_run(const pblas *b, const problem *p, pblas_maker maker, void *c, int calls);

#endif
