/*
 * Where two layouts of the same indices meet: the intervals that process p of one axis and process q of the other both
 * own, one at a time.  Neither axis's period is ever formed, and nothing is stored.
 */
#ifndef HS_DIST_OVERLAP_H
#define HS_DIST_OVERLAP_H

#include "dist/axis.h"

struct hs_overlap {
    const struct hs_axis *x, *y; /* y may be NULL: all indices */
    int p, q;
    int64_t at, end; /* the walk: intervals inside [at, end) are still to come */
};

/* A walk over [from, to). */
struct hs_overlap hs_overlap_begin(const struct hs_axis *x, int p, const struct hs_axis *y, int q, int64_t from,
                                   int64_t to);
/* The next interval, cut to at most `most` indices; 0 when there is none. */
int hs_overlap_next(struct hs_overlap *walk, int64_t most, int64_t *begin, int64_t *length);
/* How many indices both own in all. */
int64_t hs_overlap_count(const struct hs_axis *x, int p, const struct hs_axis *y, int q);

#endif
