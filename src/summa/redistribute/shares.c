#include "summa/redistribute/shares.h"

#include "base/memory.h"
#include "dist/overlap.h"

#include <string.h>

/* A walk over the intervals of one process's indices, cut where the owner in the other layout changes. */
struct owner_change {
    struct hs_overlap walk;
    const struct hs_axis *theirs;
    int64_t at, end, local;
};

static int next_owner(struct owner_change *all, int *owner, int64_t *local, int64_t *length)
{
    int64_t own;
    if (all->at == all->end) {
        if (!hs_overlap_next(&all->walk, INT64_MAX, &all->at, &own))
            return 0;
        all->end = all->at + own;
    }
    *owner = hs_axis_owner(all->theirs, all->at);
    *length = hs_min(all->end, hs_axis_block_end(all->theirs, all->at)) - all->at;
    *local = all->local;
    all->at += *length;
    all->local += *length;
    return 1;
}

/*
 * Adds all intervals to the counts and, if shares->stretch is not NULL, stores the stretches from first[] on.  next[i]
 * is one past the last local index shared with process i; an interval that begins at next[i] extends the stretch.
 */
static void group(struct hs_shares *shares, const struct hs_axis *mine, int me, const struct hs_axis *theirs,
                  int64_t *next, int64_t *stretches)
{
    struct owner_change all = {.walk = hs_overlap_begin(mine, me, NULL, 0, 0, mine->n), .theirs = theirs};
    int64_t local, length;
    int i;
    for (i = 0; i < shares->others; i++) {
        next[i] = -1;
        shares->count[i] = stretches[i] = 0;
    }
    while (next_owner(&all, &i, &local, &length)) {
        struct hs_stretch *stretch = shares->stretch ? shares->stretch + shares->first[i] : NULL;
        if (next[i] != local) {
            if (stretch)
                stretch[stretches[i]] = (struct hs_stretch){.local = local, .before = shares->count[i]};
            stretches[i]++;
        }
        if (stretch)
            stretch[stretches[i] - 1].length += length;
        shares->count[i] += length;
        next[i] = local + length;
    }
}

hsumma_status hs_shares_make(struct hs_shares *shares, const struct hs_axis *mine, int me, const struct hs_axis *theirs,
                             const struct hs_allocator *memory)
{
    size_t others = (size_t)theirs->nprocs;
    *shares = (struct hs_shares){.others = theirs->nprocs};
    shares->count = hs_get(memory, 4 * others + 1, sizeof *shares->count);
    if (!shares->count)
        return HSUMMA_ERR_MEMORY;
    int64_t *next = shares->count + others, *stretches = next + others;
    shares->first = stretches + others;
    group(shares, mine, me, theirs, next, stretches);
    shares->first[0] = 0;
    for (size_t i = 0; i < others; i++)
        shares->first[i + 1] = shares->first[i] + stretches[i];
    shares->stretch = hs_get(memory, (size_t)shares->first[others] + 1, sizeof *shares->stretch);
    if (shares->stretch) {
        group(shares, mine, me, theirs, next, stretches);
        return HSUMMA_OK;
    }
    hs_shares_free(shares, memory);
    return HSUMMA_ERR_MEMORY;
}

void hs_shares_free(struct hs_shares *shares, const struct hs_allocator *memory)
{
    hs_put(memory, shares->count);
    hs_put(memory, shares->stretch);
    *shares = (struct hs_shares){0};
}

/* A walk over the elements of a block, in runs that are consecutive in the local matrix. */
struct sharing_walk {
    const struct hs_stretch *row, *first_row, *end_row, *col;
    int64_t in_row, in_col; /* rows and columns of the current stretches that the walk has passed */
    int64_t left, ld;
};

/* The stretch shared with process `with` that contains shared index `at`. */
static const struct hs_stretch *find(const struct hs_shares *shares, int with, int64_t at)
{
    const struct hs_stretch *low = shares->stretch + shares->first[with],
                            *high = shares->stretch + shares->first[with + 1];
    while (high - low > 1) {
        const struct hs_stretch *middle = low + (high - low) / 2;
        if (middle->before <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct sharing_walk walk_from(const struct hs_shared *block, int64_t ld, int64_t begin, int64_t end)
{
    const struct hs_shares *rows = &block->axis[0];
    int64_t height = rows->count[block->with[0]], column = begin / height, row = begin % height;
    struct sharing_walk walk = {.row = find(rows, block->with[0], row),
                                .first_row = rows->stretch + rows->first[block->with[0]],
                                .end_row = rows->stretch + rows->first[block->with[0] + 1],
                                .col = find(&block->axis[1], block->with[1], column),
                                .left = end - begin,
                                .ld = ld};
    walk.in_row = row - walk.row->before;
    walk.in_col = column - walk.col->before;
    return walk;
}

static inline int64_t run_length(const struct sharing_walk *walk)
{
    return hs_min(walk->left, walk->row->length - walk->in_row);
}

/* Returns the length of the next run, at most `most` elements.  Sets *at to its offset in the local matrix, in
 * elements. */
static inline int64_t next_run(struct sharing_walk *walk, int64_t most, int64_t *at)
{
    int64_t length = hs_min(run_length(walk), most);
    *at = walk->row->local + walk->in_row + (walk->col->local + walk->in_col) * walk->ld;
    walk->left -= length;
    walk->in_row += length;
    if (walk->in_row < walk->row->length)
        return length;
    walk->in_row = 0;
    if (++walk->row < walk->end_row)
        return length;
    walk->row = walk->first_row;
    if (++walk->in_col == walk->col->length) {
        walk->in_col = 0;
        walk->col++;
    }
    return length;
}

void hs_shared_pack(const struct hs_shared *block, const struct hs_matrix *from, size_t size, int64_t begin,
                    int64_t end, char *message)
{
    struct sharing_walk walk = walk_from(block, from->ld, begin, end);
    int64_t at;
    while (walk.left > 0) {
        int64_t length = next_run(&walk, INT64_MAX, &at);
        memcpy(message, from->base + (size_t)at * size, (size_t)length * size);
        message += (size_t)length * size;
    }
}

static inline void update_run(const struct hs_scalar *scalar, int assigns, int64_t length, const void *beta, char *to,
                              const char *from)
{
    if (assigns)
        memcpy(to, from, (size_t)length * scalar->size);
    else
        scalar->update(length, 1, beta, to, length, from, length);
}

void hs_shared_unpack(const struct hs_shared *block, const struct hs_matrix *to, const struct hs_scalar *scalar,
                      const void *beta, int64_t begin, int64_t end, const char *message)
{
    struct sharing_walk walk = walk_from(block, to->ld, begin, end);
    int assigns = scalar->is_zero(beta);
    int64_t at;
    while (walk.left > 0) {
        int64_t length = next_run(&walk, INT64_MAX, &at);
        update_run(scalar, assigns, length, beta, to->base + (size_t)at * scalar->size, message);
        message += (size_t)length * scalar->size;
    }
}

void hs_shared_copy(const struct hs_shared *source, const struct hs_matrix *from, const struct hs_shared *target,
                    const struct hs_matrix *to, const struct hs_scalar *scalar, const void *beta, int64_t begin,
                    int64_t end)
{
    struct sharing_walk out = walk_from(source, from->ld, begin, end), in = walk_from(target, to->ld, begin, end);
    int assigns = scalar->is_zero(beta);
    int64_t read, write;
    while (in.left > 0) {
        int64_t length = next_run(&in, run_length(&out), &write);
        next_run(&out, length, &read);
        update_run(scalar, assigns, length, beta, to->base + (size_t)write * scalar->size,
                   from->base + (size_t)read * scalar->size);
    }
}
