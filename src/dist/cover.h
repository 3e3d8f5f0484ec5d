/* Which processes of a grid's axis own anything: block-cyclic layouts of few blocks leave some of them idle. */
#ifndef HS_DIST_COVER_H
#define HS_DIST_COVER_H

#include "dist/axis.h"

/* `length` processes from `start` on, cyclically. */
struct hs_cover {
    int start, length;
};

/* The fewest consecutive ones of nprocs processes that own all indices of all axes, but at least one.  An axis over
 * fewer processes (replicated) is on all. */
struct hs_cover hs_cover_make(const struct hs_axis *const *axis, int axes, int nprocs);
/* The place of a process among them, or -1. */
int hs_cover_index(const struct hs_cover *cover, int nprocs, int proc);
/* The axis over these processes alone. */
struct hs_axis hs_cover_axis(const struct hs_cover *cover, const struct hs_axis *axis);

#endif
