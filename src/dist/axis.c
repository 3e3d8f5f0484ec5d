#include "dist/axis.h"

struct hs_axis hs_axis_make(int64_t n, int64_t nb, int64_t first, int src, int nprocs)
{
    return src < 0 ? (struct hs_axis){n, nb, first, 0, 1} : (struct hs_axis){n, nb, first, src, nprocs};
}

/* The number of the block that holds g. */
static int64_t block_of(const struct hs_axis *axis, int64_t g)
{
    return g < axis->first ? 0 : 1 + (g - axis->first) / axis->nb;
}

/* The first index of a block.  Blocks past the last begin at n, which avoids overflow for any block size. */
static int64_t block_begin(const struct hs_axis *axis, int64_t block)
{
    if (block == 0)
        return 0;
    if (axis->first >= axis->n || block - 1 > (axis->n - axis->first) / axis->nb)
        return axis->n;
    return axis->first + (block - 1) * axis->nb;
}

/* The position of proc in the order in which processes get their first block. */
static int turn_of(const struct hs_axis *axis, int proc)
{
    return (proc - axis->src + axis->nprocs) % axis->nprocs;
}

int hs_axis_owner(const struct hs_axis *axis, int64_t g)
{
    return (int)((axis->src + block_of(axis, g)) % axis->nprocs);
}

int64_t hs_axis_before(const struct hs_axis *axis, int proc, int64_t g)
{
    if (g <= 0 || axis->nprocs == 1)
        return g;
    int turn = turn_of(axis, proc);
    int64_t block = block_of(axis, g); /* one past the last block is possible if g = n; it adds 0 below */
    int64_t whole = block > turn ? (block - 1 - turn) / axis->nprocs + 1 : 0;
    int64_t count = whole * axis->nb;
    if (turn == 0 && whole > 0)
        count -= axis->nb - axis->first;
    if (block % axis->nprocs == turn)
        count += g - block_begin(axis, block);
    return count;
}

int64_t hs_axis_count(const struct hs_axis *axis, int proc)
{
    return hs_axis_before(axis, proc, axis->n);
}

/* No process owns more than the owner of the first block, whose length is arbitrary, or the owner of the second. */
int64_t hs_axis_count_max(const struct hs_axis *axis)
{
    if (axis->nprocs == 1 || axis->n <= axis->first)
        return axis->n;
    int64_t whole = (axis->n - axis->first) / axis->nb, last = axis->n - axis->first - whole * axis->nb;
    int64_t turns = whole / axis->nprocs, more = whole - turns * axis->nprocs;
    int64_t first = axis->first + turns * axis->nb + (more == axis->nprocs - 1 ? last : 0);
    int64_t second = turns * axis->nb + (more > 0 ? axis->nb : last);
    return first > second ? first : second;
}

int64_t hs_axis_global(const struct hs_axis *axis, int proc, int64_t local)
{
    int turn = turn_of(axis, proc);
    if (turn == 0 && local < axis->first)
        return local;
    int64_t later = turn == 0 ? local - axis->first : local; /* local index counted from the second block on */
    int64_t block = later / axis->nb * axis->nprocs + (turn == 0 ? axis->nprocs : turn);
    return block_begin(axis, block) + later % axis->nb;
}

int64_t hs_axis_block_end(const struct hs_axis *axis, int64_t g)
{
    int64_t end = block_begin(axis, block_of(axis, g) + 1);
    return end < axis->n ? end : axis->n;
}

int64_t hs_axis_next(const struct hs_axis *axis, int proc, int64_t g)
{
    if (g >= axis->n)
        return axis->n;
    int64_t block = block_of(axis, g);
    int64_t wait = (turn_of(axis, proc) - block % axis->nprocs + axis->nprocs) % axis->nprocs;
    if (wait == 0)
        return g;
    int64_t begin = block_begin(axis, block + wait);
    return begin < axis->n ? begin : axis->n;
}

struct hs_axis hs_axis_part(const struct hs_axis *axis, int64_t offset, int64_t n)
{
    struct hs_axis part = *axis;
    part.n = n;
    if (offset > 0) {
        int64_t block = block_of(axis, offset);
        part.src = (int)((axis->src + block) % axis->nprocs);
        part.first = block == 0 ? axis->first - offset : axis->nb - (offset - axis->first) % axis->nb;
    }
    return part;
}

int hs_axis_same(const struct hs_axis *x, const struct hs_axis *y)
{
    if (x->n == 0 && y->n == 0)
        return 1;
    if (x->n != y->n || x->nprocs != y->nprocs)
        return 0;
    if (x->nprocs == 1)
        return 1;
    if (x->src != y->src)
        return 0;
    if (x->first >= x->n && y->first >= y->n)
        return 1;
    return x->first == y->first && (x->nb == y->nb || (x->n - x->first <= x->nb && y->n - y->first <= y->nb));
}
