#include "dist/overlap.h"

struct hs_overlap hs_overlap_begin(const struct hs_axis *x, int p, const struct hs_axis *y, int q, int64_t from,
                                   int64_t to)
{
    return (struct hs_overlap){x, y, p, q, from, to};
}

int hs_overlap_next(struct hs_overlap *walk, int64_t most, int64_t *begin, int64_t *length)
{
    int64_t at = walk->at;
    for (int64_t before = -1; before != at;) { /* leapfrog until both processes own `at` */
        before = at;
        at = hs_axis_next(walk->x, walk->p, at);
        if (walk->y)
            at = hs_axis_next(walk->y, walk->q, at);
    }
    walk->at = at;
    if (at >= walk->end || most <= 0)
        return 0;
    int64_t end = hs_axis_block_end(walk->x, at);
    if (walk->y) {
        int64_t other = hs_axis_block_end(walk->y, at);
        end = other < end ? other : end;
    }
    end = walk->end < end ? walk->end : end;
    end = most < end - at ? at + most : end;
    *begin = at;
    *length = end - at;
    walk->at = end;
    return 1;
}

int64_t hs_overlap_count(const struct hs_axis *x, int p, const struct hs_axis *y, int q)
{
    struct hs_overlap walk = hs_overlap_begin(x, p, y, q, 0, x->n);
    int64_t begin, length, count = 0;
    while (hs_overlap_next(&walk, INT64_MAX, &begin, &length))
        count += length;
    return count;
}
