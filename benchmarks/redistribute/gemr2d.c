/* Calls ScaLAPACK's p?gemr2d. */
#include <limits.h>
#include <string.h>

#include "hsumma_scalapack.h"
#include "product/pblas.h"
#include "redistribute/move.h"

#if HSUMMA_HAVE_SCALAPACK

const char *gemr2d_refuses(const move *m)
{
    for (int e = 0; e < 2; e++) {
        const hsumma_desc *d = &m->end[e].desc;

        if (d->rsrc < 0 || d->csrc < 0)
            return "p?gemr2d has no rsrc or csrc of -1";
        if (d->imb != d->mb || d->inb != d->nb)
            return "p?gemr2d has no first block of another size; to compare give imb = mb and inb = nb";
        if (d->m > INT_MAX || d->n > INT_MAX || d->mb > INT_MAX || d->nb > INT_MAX)
            return "p?gemr2d has 32-bit sizes";
    }
    return NULL;
}

void gemr2d_create(gemr2d *g, const move *m)
{
    memset(g, 0, sizeof *g);
    g->handle = Csys2blacs_handle(m->comm);
    g->made = 1;
    for (int c = 0; c < 3; c++)
        g->context[c] = g->handle;
    Cblacs_gridinit(&g->context[2], "R", 1, m->ranks);
    for (int e = 0; e < 2; e++) {
        const placement *at = &m->args->end[e];
        const hsumma_desc *desc = &m->end[e].desc;

        Cblacs_gridinit(&g->context[e], "R", at->nprow, at->npcol);
        const int fields[9] = {1,          g->context[e], (int)desc->m, (int)desc->n, (int)desc->mb, (int)desc->nb,
                               desc->rsrc, desc->csrc,    (int)desc->ld};
        memcpy(g->desc[e], fields, sizeof fields);
    }
}

void gemr2d_free(gemr2d *g)
{
    for (int c = 0; g->made && c < 3; c++)
        if (g->context[c] >= 0)
            Cblacs_gridexit(g->context[c]);
    if (g->made)
        Cfree_blacs_system_handle(g->handle);
    g->made = 0;
}

void gemr2d_run(const gemr2d *g, const move *m)
{
    static hsumma_pgemr2d *const routines[] = {psgemr2d_, pdgemr2d_, pcgemr2d_, pzgemr2d_};
    int rows = (int)m->args->m, cols = (int)m->args->n, first[2][2];
    double nothing[2] = {0, 0};

    for (int e = 0; e < 2; e++) {
        first[e][0] = (int)m->end[e].desc.i + 1;
        first[e][1] = (int)m->end[e].desc.j + 1;
    }
    routines[m->args->type](&rows, &cols, m->end[0].local ? m->end[0].local : nothing, &first[0][0], &first[0][1],
                            g->desc[0], m->end[1].local ? m->end[1].local : nothing, &first[1][0], &first[1][1],
                            g->desc[1], &g->context[2]);
}

#else

const char *gemr2d_refuses(const move *m)
{
    (void)m;
    return "this hsumma was built without it; install it and build again";
}

void gemr2d_create(gemr2d *g, const move *m)
{
    (void)m;
    memset(g, 0, sizeof *g);
}

void gemr2d_free(gemr2d *g)
{
    (void)g;
}

void gemr2d_run(const gemr2d *g, const move *m)
{
    (void)g;
    (void)m;
}

#endif
