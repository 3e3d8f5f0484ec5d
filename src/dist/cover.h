/* Which processes along a grid axis own anything: a block-cyclic layout with few blocks leaves some of them idle. */
#ifndef HS_DIST_COVER_H
#define HS_DIST_COVER_H

#include "dist/axis.h"

/* `length` consecutive processes from `start` on, cyclically. */
struct hs_cover {
    int start, length;
};

/* The fewest consecutive processes of nprocs, at least one, that own all indices of all axes.  An axis over fewer
 * processes (replicated) lies on all of them. */
struct hs_cover hs_cover_make(const struct hs_axis *const *axis, int axes, int nprocs);
/* The index of a process within the cover; -1 if it is outside. */
int hs_cover_index(const struct hs_cover *cover, int nprocs, int proc);
/* The axis over the processes of the cover only. */
struct hs_axis hs_cover_axis(const struct hs_cover *cover, const struct hs_axis *axis);

#endif
