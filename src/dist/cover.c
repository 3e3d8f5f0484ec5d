#include "dist/cover.h"

/* Number of processes that own at least one index; they are consecutive from axis->src on. */
static int owners(const struct hs_axis *axis, int nprocs)
{
    if (axis->n == 0)
        return 0;
    if (axis->nprocs != nprocs)
        return nprocs;
    int64_t later = axis->n > axis->first ? (axis->n - axis->first - 1) / axis->nb + 1 : 0;
    return later >= nprocs - 1 ? nprocs : 1 + (int)later;
}

/* Length of the shortest run of processes from `start` on that together own all indices of all axes. */
static int length_from(const struct hs_axis *const *axis, int axes, int nprocs, int start)
{
    int length = 1;
    for (int i = 0; i < axes; i++) {
        int count = owners(axis[i], nprocs), end = (axis[i]->src - start + nprocs) % nprocs + count;
        if (count > 0 && end > length)
            length = end;
    }
    return length;
}

struct hs_cover hs_cover_make(const struct hs_axis *const *axis, int axes, int nprocs)
{
    struct hs_cover best = {0, nprocs};
    for (int i = 0; i < axes; i++) {
        int length = length_from(axis, axes, nprocs, axis[i]->src);
        if (length < best.length)
            best = (struct hs_cover){axis[i]->src, length};
    }
    return best;
}

int hs_cover_index(const struct hs_cover *cover, int nprocs, int proc)
{
    int index = (proc - cover->start + nprocs) % nprocs;
    return index < cover->length ? index : -1;
}

struct hs_axis hs_cover_axis(const struct hs_cover *cover, const struct hs_axis *axis)
{
    struct hs_axis part = *axis;
    part.nprocs = cover->length;
    part.src = axis->n == 0 ? 0 : (axis->src - cover->start + axis->nprocs) % axis->nprocs;
    return part;
}
