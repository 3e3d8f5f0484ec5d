/*
 * The overlap of two layouts of the same indices: a walk over the intervals that process p of one axis and process q of
 * the other both own.  The common period of the axes is never formed, and nothing is stored.
 */
#ifndef HS_DIST_OVERLAP_H
#define HS_DIST_OVERLAP_H

#include "dist/axis.h"

struct hs_overlap {
    const struct hs_axis *x, *y; /* y may be NULL; the walk then covers all indices of process p of x */
    int p, q;
    int64_t at, end; /* the rest of the walk is inside [at, end) */
};

/* Begins a walk over [from, to). */
struct hs_overlap hs_overlap_begin(const struct hs_axis *x, int p, const struct hs_axis *y, int q, int64_t from,
                                   int64_t to);
/* Sets *begin and *length to the next interval, cut to at most `most` indices; returns 0 if none is left. */
int hs_overlap_next(struct hs_overlap *walk, int64_t most, int64_t *begin, int64_t *length);
/* Number of indices that process p of x and process q of y both own. */
int64_t hs_overlap_count(const struct hs_axis *x, int p, const struct hs_axis *y, int q);

#endif
