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

/* A dimension: the part has `length` indices, preceded by `offset` and followed by `extra` others. */
struct spread_side {
    int64_t length, offset, extra, first, block;
    int source; /* -1: all processes hold everything */
};

/* A matrix whose entries follow from its seed; ld exceeds this process's rows by pad. */
struct spread_matrix {
    hsumma_type type;
    int extent[2], ranks[SPREAD_RANKS];
    struct spread_side side[2];
    int pad;
    uint64_t seed;
    /* of this process: */
    int coord[2];
    int64_t count[2], *index[2], ld; /* count and global indices of its rows and columns */
    char *data;
};

/* Draws a grid of some ranks, in any order. */
void spread_draw_grid(struct spread_matrix *matrix);
void spread_draw_side(struct spread_side *side, int64_t length, int extent);
/* Makes this process's part: with entries if `seed` is nonzero, else with NaN, which must not be read. */
void spread_make(struct spread_matrix *matrix);
void spread_drop(struct spread_matrix *matrix);
hsumma_desc spread_desc(const struct spread_matrix *matrix, const hsumma_grid *grid);

/*
 * The number of wrong elements of the target, padding included. Right values are, inside the part, beta times the old
 * ones plus all sources in order; outside, the old ones. Of sources only side and seed are used.
 */
int64_t spread_wrong(const struct spread_matrix *target, double beta, const struct spread_matrix *source, int sources);
void spread_print(const struct spread_matrix *matrix, const char *name);

#endif
