/* ScaLAPACK as a contender. */
#include "contender_scalapack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "timing.h"

#ifndef HSUMMA_HAVE_SCALAPACK
#define HSUMMA_HAVE_SCALAPACK 0
#endif

int scalapack_available(void)
{
    return HSUMMA_HAVE_SCALAPACK;
}

#if HSUMMA_HAVE_SCALAPACK

/* No header comes with the library. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int *context, int *ranks, int ld, int nprow, int npcol);
void Cblacs_gridexit(int context);

typedef void pgemm(const char *transa, const char *transb, const int *m, const int *n, const int *k, const void *alpha,
                   const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib,
                   const int *jb, const int *descb, const void *beta, void *c, const int *ic, const int *jc,
                   const int *descc);
pgemm psgemm_, pdgemm_, pcgemm_, pzgemm_;

/* A descriptor of PBLAS with a first block of its own size (DTYPE_ = 2); ScaLAPACK's descinit_ knows only the short
 * form. Returns 0 if something does not fit in an int. */
static int convert(int *desc, int context, const hsumma_desc *d)
{
    const int64_t field[11] = {2, context, d->m, d->n, d->imb, d->inb, d->mb, d->nb, d->rsrc, d->csrc, d->ld};
    int good = d->i < INT_MAX && d->j < INT_MAX;

    for (int i = 0; i < 11; i++) {
        good &= field[i] <= INT_MAX;
        desc[i] = (int)field[i];
    }
    return good;
}

/* The same ranks at the same places as in our grid. */
static int make_grid(scalapack *s, const problem *p)
{
    int *map = malloc((size_t)p->nprow * (size_t)p->npcol * sizeof *map);

    if (command_fail(p->comm, !map, "no memory for ScaLAPACK's process grid"))
        return COMMAND_INTERNAL;
    for (int i = 0; i < p->nprow; i++)
        for (int j = 0; j < p->npcol; j++)
            map[i + j * p->nprow] = p->args->order == 'R' ? i * p->npcol + j : i + j * p->nprow;
    s->handle = Csys2blacs_handle(p->comm);
    s->context = s->handle;
    Cblacs_gridmap(&s->context, map, p->nprow, p->nprow, p->npcol);
    s->made = 1;
    free(map);
    return COMMAND_OK;
}

int scalapack_create(scalapack *s, const problem *p)
{
    static const char letter[] = "sdcz";
    int code, good;

    memset(s, 0, sizeof *s);
    if ((code = make_grid(s, p)))
        return code;
    good = convert(s->desc[0], s->context, &p->a.desc) & convert(s->desc[1], s->context, &p->b.desc) &
           convert(s->desc[2], s->context, &p->c.desc);
    good &= p->args->m <= INT_MAX && p->args->n <= INT_MAX && p->args->k <= INT_MAX;
    if (command_fail(p->comm, !good, "--compare scalapack: a size does not fit in ScaLAPACK's 32-bit integers"))
        return COMMAND_BAD_INPUT;
    good = !p->c.bytes || !posix_memalign(&s->c, 64, p->c.bytes);
    if (command_fail(p->comm, !good, "no memory for ScaLAPACK's copy of C, %zu bytes", p->c.bytes))
        return COMMAND_INTERNAL;
    snprintf(s->how, sizeof s->how,
             "p%cgemm, same grid, same distribution, same A and B, own C; %s with %d thread%s per rank",
             letter[p->args->type], blas_name(), blas_threads() ? p->mach.blas_share : 1,
             blas_threads() && p->mach.blas_share > 1 ? "s" : "");
    return COMMAND_OK;
}

void scalapack_free(scalapack *s)
{
    free(s->c);
    if (s->made && s->context >= 0)
        Cblacs_gridexit(s->context);
    if (s->made)
        Cfree_blacs_system_handle(s->handle);
    memset(s, 0, sizeof *s);
}

double scalapack_run(scalapack *s, const problem *p)
{
    static pgemm *const routine[] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
    const arguments *args = p->args;
    int m = (int)args->m, n = (int)args->n, k = (int)args->k, before = blas_threads();
    int ia = (int)p->a.desc.i + 1, ja = (int)p->a.desc.j + 1, ib = (int)p->b.desc.i + 1, jb = (int)p->b.desc.j + 1;
    int ic = (int)p->c.desc.i + 1, jc = (int)p->c.desc.j + 1;
    double nothing[2] = {0, 0}, seconds;

    if (p->row < 0) /* BLACS has no context here */
        return 0;
    blas_set_threads(p->mach.blas_share);
    seconds = MPI_Wtime();
    routine[args->type](&args->transa, &args->transb, &m, &n, &k, p->alpha.byte, p->a.local ? p->a.local : nothing, &ia,
                        &ja, s->desc[0], p->b.local ? p->b.local : nothing, &ib, &jb, s->desc[1], p->beta.byte,
                        s->c ? s->c : nothing, &ic, &jc, s->desc[2]);
    seconds = MPI_Wtime() - seconds;
    blas_set_threads(before);
    return seconds;
}

#else

int scalapack_create(scalapack *s, const problem *p)
{
    memset(s, 0, sizeof *s);
    command_fail(p->comm, 1, "--compare scalapack: this hsumma_bench was built without ScaLAPACK");
    return COMMAND_BAD_INPUT;
}

void scalapack_free(scalapack *s)
{
    (void)s;
}

double scalapack_run(scalapack *s, const problem *p)
{
    (void)s;
    (void)p;
    return 0;
}

#endif
