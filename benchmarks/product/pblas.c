/* Calls p?gemm of ScaLAPACK or of hsumma. */
#include "product/pblas.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "common/command.h"
#include "hsumma_scalapack.h"

#if HSUMMA_HAVE_SCALAPACK

static hsumma_pgemm *const routines[2][4] = {
    [PBLAS_SCALAPACK] = {psgemm_, pdgemm_, pcgemm_, pzgemm_},
    [PBLAS_HSUMMA] = {hsumma_psgemm_, hsumma_pdgemm_, hsumma_pcgemm_, hsumma_pzgemm_},
};

/* Converts a descriptor to PBLAS's form with DTYPE_ = 2, whose first block may differ in size from the others;
 * descinit_ makes only the form without it. Returns 0 if a value does not fit in an int. */
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

static int make_grid(pblas *b, const problem *p)
{
    int *map = malloc((size_t)p->nprow * (size_t)p->npcol * sizeof *map);

    if (command_fail(p->comm, !map, "no memory for ScaLAPACK's process grid"))
        return COMMAND_INTERNAL;
    for (int i = 0; i < p->nprow; i++)
        for (int j = 0; j < p->npcol; j++)
            map[i + j * p->nprow] = hsumma_grid_rank(p->grid, i, j);
    b->handle = Csys2blacs_handle(p->comm);
    b->context = b->handle;
    Cblacs_gridmap(&b->context, map, p->nprow, p->nprow, p->npcol);
    b->made = 1;
    free(map);
    return COMMAND_OK;
}

/* The name of the library file that defines p?gemm: a preloaded one may precede ScaLAPACK. */
static const char *library_of(hsumma_pgemm *routine)
{
    void *address;
    Dl_info info;

    memcpy(&address, &routine, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname)
        return "a library without a name";
    return strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
}

int pblas_create(pblas *b, const problem *p)
{
    const arguments *args = p->args;
    int code, good, threads = hs_threads_now() ? p->mach.blas_share : 1;

    memset(b, 0, sizeof *b);
    if ((code = make_grid(b, p)))
        return code;
    good = args->m <= INT_MAX && args->n <= INT_MAX && args->k <= INT_MAX;
    for (int o = 0; o < 3; o++)
        good &= convert(b->desc[o], b->context, &p->x[o].desc);
    if (command_fail(
            p->comm, !good,
            "p?gemm: m = %lld, n = %lld, k = %lld or a field of a descriptor exceeds 2^31 - 1, ScaLAPACK's limit; "
            "give a smaller product, or --api and --compare without ScaLAPACK",
            (long long)args->m, (long long)args->n, (long long)args->k))
        return COMMAND_BAD_INPUT;
    snprintf(b->how, sizeof b->how,
             "p%cgemm of %.60s, same grid, same distribution, same A and B, own C; %s with %d thread%s per rank",
             hs_scalars[args->type].letter, library_of(routines[PBLAS_SCALAPACK][args->type]), hs_threads_library(),
             threads, threads > 1 ? "s" : "");
    return COMMAND_OK;
}

void pblas_free(pblas *b)
{
    if (b->made && b->context >= 0)
        Cblacs_gridexit(b->context);
    if (b->made)
        Cfree_blacs_system_handle(b->handle);
    memset(b, 0, sizeof *b);
}

double pblas_run(const pblas *b, const problem *p, pblas_maker maker, void *c, int calls)
{
    hsumma_pgemm *const routine = routines[maker][p->args->type];
    const arguments *args = p->args;
    int m = (int)args->m, n = (int)args->n, k = (int)args->k, before = 0, i[3], j[3];
    double nothing[2] = {0, 0}, seconds;
    const void *local_a = p->a.local ? p->a.local : nothing, *local_b = p->b.local ? p->b.local : nothing;

    if (p->row < 0) /* outside the BLACS grid */
        return 0;
    for (int o = 0; o < 3; o++) {
        i[o] = (int)p->x[o].desc.i + 1;
        j[o] = (int)p->x[o].desc.j + 1;
    }
    c = c ? c : nothing;
    if (maker == PBLAS_SCALAPACK)
        before = hs_threads_set(p->mach.blas_share);
    seconds = MPI_Wtime();
    for (int call = 0; call < calls; call++)
        routine(&args->transa, &args->transb, &m, &n, &k, &p->alpha, local_a, &i[0], &j[0], b->desc[0], local_b, &i[1],
                &j[1], b->desc[1], &p->beta, c, &i[2], &j[2], b->desc[2]);
    seconds = MPI_Wtime() - seconds;
    hs_threads_restore(before);
    return seconds;
}

#else

int pblas_create(pblas *b, const problem *p)
{
    memset(b, 0, sizeof *b);
    command_fail(p->comm, 1, "this hsumma was built without ScaLAPACK; install it and build again");
    return COMMAND_BAD_INPUT;
}

void pblas_free(pblas *b)
{
    (void)b;
}

double pblas_run(const pblas *b, const problem *p, pblas_maker maker, void *c, int calls)
{
    (void)b;
    (void)p;
    (void)maker;
    (void)c;
    (void)calls;
    return 0;
}

#endif
