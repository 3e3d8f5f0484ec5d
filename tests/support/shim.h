/*
 * Calls of p?gemm for the tests of the shim: ScaLAPACK's routines and ours on the same matrices.  PBLAS's error exit is
 * recorded instead of ending the program.
 */
#ifndef HS_TESTS_SUPPORT_SHIM_H
#define HS_TESTS_SUPPORT_SHIM_H

#include "support/quiet.h"
#include "support/tap.h"

#include "hsumma.h"
#include "hsumma_scalapack.h"

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
#define SEEN_BY_LIBRARIES __attribute__((visibility("default")))
SEEN_BY_LIBRARIES void PB_Cabort(int context, char *routine, int info);
SEEN_BY_LIBRARIES void PB_Cwarn(int context, int line, char *routine, char *format, ...);

enum { LD = 64, WORDS = LD * LD * 2, LONG = 11 };
enum { DTYPE, CTXT, ROWS, COLS, IMB, INB, MB, NB, RSRC, CSRC, LLD };

static int rank, size;
static struct {
    int count, context, info;
    char routine[8];
} aborted;
static int singles; /* calls of ScaLAPACK's psgemm_ */

/* PBLAS's error exit is ours here, for both. */
void PB_Cabort(int context, char *routine, int info)
{
    aborted.count++;
    aborted.context = context;
    aborted.info = info;
    snprintf(aborted.routine, sizeof aborted.routine, "%s", routine);
}

void PB_Cwarn(int context, int line, char *routine, char *format, ...)
{
    (void)context, (void)line, (void)routine, (void)format;
}

/* ScaLAPACK's, counted. */
void psgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const void *alpha,
             const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib, const int *jb,
             const int *descb, const void *beta, void *c, const int *ic, const int *jc, const int *descc)
{
    hsumma_pgemm *next;
    void *found = dlsym(RTLD_NEXT, "psgemm_");
    memcpy(&next, &found, sizeof next);
    singles++;
    next(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc);
}

static hsumma_pgemm *const theirs[] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
static hsumma_pgemm *const ours[] = {hsumma_psgemm_, hsumma_pdgemm_, hsumma_pcgemm_, hsumma_pzgemm_};

static int everywhere(int good)
{
    return quiet_reduce(good != 0, MPI_MIN) == 1;
}

static int context_of(int nprow, int npcol, const char *order)
{
    int context;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, order, nprow, npcol);
    return context;
}

struct call {
    char trans[2];
    int extent[3], first[3][2], desc[3][LONG];
    double alpha[2], beta[2];
};

/* All operands whole, in blocks of nb, DTYPE 2. */
static struct call call_of(int context, char ta, char tb, int m, int n, int k, int nb)
{
    struct call call = {{ta, tb}, {m, n, k}, {{1, 1}, {1, 1}, {1, 1}}, {{0}}, {2, 0}, {-1, 0}};
    int plain_a = ta == 'N' || ta == 'n', plain_b = tb == 'N' || tb == 'n';
    int shape[3][2] = {{plain_a ? m : k, plain_a ? k : m}, {plain_b ? k : n, plain_b ? n : k}, {m, n}};
    for (int x = 0; x < 3; x++) {
        const int desc[LONG] = {2, context, shape[x][0], shape[x][1], nb, nb, nb, nb, 0, 0, LD};
        memcpy(call.desc[x], desc, sizeof desc);
    }
    return call;
}

/* DTYPE 2 to DTYPE 1, which has no IMB and INB. */
static void shorten(int desc[LONG])
{
    desc[DTYPE] = 1;
    memmove(&desc[IMB], &desc[MB], (LONG - MB) * sizeof *desc);
}

static void run(hsumma_pgemm *routine, int type, const struct call *call, const void *a, const void *b, void *c)
{
    float single[2][2] = {{(float)call->alpha[0], (float)call->alpha[1]}, {(float)call->beta[0], (float)call->beta[1]}};
    int real = type == 0 || type == 2;
    routine(&call->trans[0], &call->trans[1], &call->extent[0], &call->extent[1], &call->extent[2],
            real ? (const void *)single[0] : call->alpha, a, &call->first[0][0], &call->first[0][1], call->desc[0], b,
            &call->first[1][0], &call->first[1][1], call->desc[1], real ? (const void *)single[1] : call->beta, c,
            &call->first[2][0], &call->first[2][1], call->desc[2]);
}

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static double load(int type, const double *at, int i)
{
    return type % 2 ? at[i] : (double)((const float *)at)[i];
}

static void store(int type, double *at, int i, double value)
{
    if (type % 2)
        at[i] = value;
    else
        ((float *)at)[i] = (float)value;
}

/* Small integers, so that sums are exact in any order. */
static void fill(int type, double *at, unsigned seed)
{
    for (int i = 0; i < WORDS; i++)
        store(type, at, i, (double)draw(&seed, 7) - 3);
}

static double a[WORDS], b[WORDS], c[WORDS], reference[WORDS];

/* ScaLAPACK's routine and another one on the same matrices: 1 if C and what is beside it are the same.  The other one
 * meets NaN in what it must not read. */
static int same(int type, const struct call *call, hsumma_pgemm *other)
{
    int no_product = (call->alpha[0] == 0 && call->alpha[1] == 0) || call->extent[2] == 0, good = 1;
    int no_c = call->beta[0] == 0 && call->beta[1] == 0;
    fill(type, a, (unsigned)rank + 1);
    fill(type, b, (unsigned)rank + 11);
    fill(type, c, (unsigned)rank + 21);
    memcpy(reference, c, sizeof c);
    run(theirs[type], type, call, a, b, reference);
    for (int i = 0; i < WORDS; i++) {
        if (no_c && load(type, reference, i) != load(type, c, i))
            store(type, c, i, NAN);
        if (no_product) {
            store(type, a, i, NAN);
            store(type, b, i, NAN);
        }
    }
    run(other, type, call, a, b, c);
    for (int i = 0; i < WORDS; i++)
        good &= load(type, c, i) == load(type, reference, i);
    return good;
}

static int multiplies(int context, int m, int n, int k, int nb)
{
    struct call call = call_of(context, 'N', 'N', m, n, k, nb);
    return same(HSUMMA_D, &call, ours[HSUMMA_D]);
}

/* MPI and the environment as all these tests want them. */
/* An argument node=WORD says how processes of a node share (HSUMMA_NODE). */
static void begin(int *argc, char ***argv)
{
    hsumma_option_info info;
    for (int i = 0; hsumma_option(i, &info); i++)
        unsetenv(info.environment);
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], "node=", 5) == 0)
            setenv("HSUMMA_NODE", (*argv)[i] + 5, 1);
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tap_begin(rank == 0);
}

#endif
