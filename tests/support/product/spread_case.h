/*
 * Matrices in random layouts for tests of redistribution. Owners are found by counting blocks one by one. Entries are
 * hashes of their global indices and use all bits, so that the order of sums shows.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_SPREAD_CASE_H
#define HS_TESTS_SUPPORT_PRODUCT_SPREAD_CASE_H

#include "support/random.h"
#include "support/tap.h"
#include "support/world.h"

#include <hsumma.h>

#include <complex.h>
#include <stdlib.h>
#include <string.h>

enum { SPREAD_RANKS = 8 };

/* One dimension of a matrix. The moved part has `length` indices, with `offset` before and `extra` after it. */
struct spread_side {
    int64_t length, offset, extra, first, block;
    int source; /* process of the first block; -1: every process has all indices */
};

/* A matrix whose entries follow from its seed; `pad` is ld minus the number of this process's rows (at least 1). */
struct spread_matrix {
    hsumma_type type;
    int extent[2], ranks[SPREAD_RANKS];
    struct spread_side side[2];
    int pad;
    uint64_t seed;
    /* fields of this process only: */
    int coord[2];
    int64_t count[2], *index[2], ld; /* number and global indices of its rows [0] and columns [1] */
    char *data;
};

/* Draws a grid of some ranks, in random order. */
void spread_draw_grid(struct spread_matrix *matrix);
void spread_draw_side(struct spread_side *side, int64_t length, int extent);
/* Allocates this process's part. A nonzero `seed` fills it with the entries, 0 with NaN, which must not be read. */
void spread_make(struct spread_matrix *matrix);
void spread_drop(struct spread_matrix *matrix);
hsumma_desc spread_desc(const struct spread_matrix *matrix, const hsumma_grid *grid);

/*
 * The number of wrong elements of the target, padding included. Inside the moved part the right value is beta times the
 * old value plus the entries of all sources, added in order; outside it is the old value. Of the sources only `type`,
 * `side` and `seed` are used.
 */
int64_t spread_wrong(const struct spread_matrix *target, double beta, const struct spread_matrix *source, int sources);
void spread_print(const struct spread_matrix *matrix, const char *name);

#endif
