/*
 * Matrices in random layouts for the tests of redistribution.  Where an element lies is found by counting blocks one by
 * one; an entry is made from its global indices, with all bits in use, so that sums show their order.
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

/* A dimension: the part has `length` indices, after `offset` others and before `extra` others. */
struct spread_side {
    int64_t length, offset, extra, first, block;
    int source; /* -1: all processes have all */
};

/* The entries of a matrix are drawn from its seed; ld is pad more than this process's rows. */
struct spread_matrix {
    hsumma_type type;
    int extent[2], ranks[SPREAD_RANKS];
    struct spread_side side[2];
    int pad;
    uint64_t seed;
    /* of this process */
    int coord[2];
    int64_t count[2], *index[2], ld; /* count and global indices of its rows and columns */
    char *data;
};

/* A grid of some of the ranks, in any order. */
void spread_draw_grid(struct spread_matrix *matrix);
void spread_draw_side(struct spread_side *side, int64_t length, int extent);
/* Makes this process's part, where `seed` is not 0 with entries; else it holds NaN, which nothing may read. */
void spread_make(struct spread_matrix *matrix);
void spread_drop(struct spread_matrix *matrix);
hsumma_desc spread_desc(const struct spread_matrix *matrix, const hsumma_grid *grid);

/*
 * Elements of the target, padding and all, that are not what they must be: beta times what they were plus all sources,
 * in their order, inside the part, and unchanged outside.  Of sources only side and seed are used.
 */
int64_t spread_wrong(const struct spread_matrix *target, double beta, const struct spread_matrix *source, int sources);
void spread_print(const struct spread_matrix *matrix, const char *name);

#endif
