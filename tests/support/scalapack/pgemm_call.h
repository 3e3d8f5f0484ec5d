/*
 * Calls of p?gemm for tests of the shim: ScaLAPACK's routines and ours on the same matrices. PBLAS's error exit is
 * recorded and does not end the program.
 */
#ifndef HS_TESTS_SUPPORT_SCALAPACK_PGEMM_CALL_H
#define HS_TESTS_SUPPORT_SCALAPACK_PGEMM_CALL_H

#include "hsumma.h"
#include "hsumma_scalapack.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/world.h"
#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridmap(int *context, int *ranks, int ld, int nprow, int npcol);
void Cblacs_gridinfo(int context, int *nprow, int *npcol, int *row, int *col);
void Cblacs_gridexit(int context);
void Cdgesd2d(int context, int m, int n, double *a, int lda, int row, int col);
void Cdgerv2d(int context, int m, int n, double *a, int lda, int row, int col);

enum { PGEMM_LD = 64, PGEMM_WORDS = PGEMM_LD * PGEMM_LD * 2, PGEMM_DESC = 11 };

enum { DTYPE, CTXT, ROWS, COLS, IMB, INB, MB, NB, RSRC, CSRC, LLD };

/* The number of calls of PBLAS's error exit, and the arguments of the last call. */
extern struct pgemm_aborted {
    int count, context, info;
    char routine[8];
} pgemm_aborted;
extern int pgemm_theirs_count; /* number of calls of ScaLAPACK's routines */
extern hsumma_pgemm *const pgemm_theirs[4];
extern hsumma_pgemm *const pgemm_ours[4];
int blacs_context_of(int nprow, int npcol, const char *order);

struct pgemm_call {
    char trans[2];
    int extent[3], first[3][2], desc[3][PGEMM_DESC];
    double alpha[2], beta[2];
};

/* A call on whole matrices in blocks of nb x nb, with descriptors of DTYPE 2. */
struct pgemm_call pgemm_call_of(int context, char ta, char tb, int m, int n, int k, int nb);

/* Converts a descriptor of DTYPE 2 to DTYPE 1, which has no IMB and INB. */
void pgemm_shorten(int desc[PGEMM_DESC]);

/* Calls `routine`; returns 1 if it has changed none of its arguments but the matrices. */
int pgemm_run(hsumma_pgemm *routine, int type, const struct pgemm_call *call, const void *a, const void *b, void *c);

/* Memory for A, B and C in calls whose entries are irrelevant. */
extern double pgemm_matrix[3][PGEMM_WORDS];

/* Runs ScaLAPACK's routine and `other` on the same matrices; returns 1 if C and the memory around it are equal. `other`
 * gets NaN wherever it must not read. */
int pgemm_same(int type, const struct pgemm_call *call, hsumma_pgemm *other);
int pgemm_multiplies(int context, int m, int n, int k, int nb);

/* Unsets the library's environment variables, sets HSUMMA_NODE to WORD for a program argument node=WORD, and then calls
 * world_begin. */
void pgemm_begin(int *argc, char ***argv);

#endif
