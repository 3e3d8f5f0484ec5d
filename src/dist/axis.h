/*
 * One block-cyclically distributed dimension: pure arithmetic, O(1) per call.
 *
 * The n indices are cut into blocks: the first has `first` indices (at least 1, independent of nb), all others nb, and
 * the last may be shorter.  Block i is owned by process (src + i) mod nprocs.  A matrix has two axes, and a submatrix
 * has two axes again (hs_axis_part).  Block-checkerboard is nb = ceil(n / nprocs).
 */
#ifndef HS_DIST_AXIS_H
#define HS_DIST_AXIS_H

#include <stdint.h>

struct hs_axis {
    int64_t n, nb, first;
    int src, nprocs;
};

/* Makes an axis from a descriptor.  If src < 0, every process has all indices, and the axis has a single process. */
struct hs_axis hs_axis_make(int64_t n, int64_t nb, int64_t first, int src, int nprocs);

/* The process that owns index g, 0 <= g < n. */
int hs_axis_owner(const struct hs_axis *axis, int64_t g);
/* Number of indices below g that proc owns, 0 <= g <= n.  If proc owns g, this is the local index of g. */
int64_t hs_axis_before(const struct hs_axis *axis, int proc, int64_t g);
/* Number of indices that proc owns. */
int64_t hs_axis_count(const struct hs_axis *axis, int proc);
/* Most indices that any process owns. */
int64_t hs_axis_count_max(const struct hs_axis *axis);
/* The global index of proc's local index, 0 <= local < count. */
int64_t hs_axis_global(const struct hs_axis *axis, int proc, int64_t local);
/* One past the last index of the block that holds g. */
int64_t hs_axis_block_end(const struct hs_axis *axis, int64_t g);
/* The first index >= g that proc owns, or n. */
int64_t hs_axis_next(const struct hs_axis *axis, int proc, int64_t g);
/* The axis of the indices [offset, offset + n) of axis. */
struct hs_axis hs_axis_part(const struct hs_axis *axis, int64_t offset, int64_t n);
/* 1 if both have as many processes and the same owner of every index, or are empty.  Block sizes may differ. */
int hs_axis_same(const struct hs_axis *x, const struct hs_axis *y);

/* The least number of pieces of at most `most` indices. */
static inline int64_t hs_cuts(int64_t indices, int64_t most)
{
    return (indices + most - 1) / most;
}

#endif
