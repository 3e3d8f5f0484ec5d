/* The processes along a grid axis that own an index.  A block-cyclic layout with few blocks leaves others idle. */
#ifndef HS_DIST_COVER_H
#define HS_DIST_COVER_H

#include "dist/axis.h"

/* `length` consecutive processes from `start` on, cyclically. */
struct hs_cover {
    int start, length;
};

/* The shortest run of processes, at least one, that together own all indices of all axes.  The axes lie on nprocs
 * processes; an axis over fewer is replicated, so all nprocs processes own it. */
struct hs_cover hs_cover_make(const struct hs_axis *const *axis, int axes, int nprocs);
/* The index of a process within the cover; -1 if it is outside. */
int hs_cover_index(const struct hs_cover *cover, int nprocs, int proc);
/* `axis` with its processes renumbered by their index within the cover.  Not for a replicated axis, unless it is empty.
 */
struct hs_axis hs_cover_axis(const struct hs_cover *cover, const struct hs_axis *axis);

#endif
