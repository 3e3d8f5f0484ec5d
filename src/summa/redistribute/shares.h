/*
 * The elements of a matrix that a process of one layout and a process of another layout share.
 *
 * On one axis, hs_shares groups a process's local indices by their owner in the other layout.  Two processes share the
 * same indices in the same order, so shared rows by shared columns form a dense block, whose elements both processes
 * number by columns; a message is an interval of these numbers.
 */
#ifndef HS_SUMMA_REDISTRIBUTE_SHARES_H
#define HS_SUMMA_REDISTRIBUTE_SHARES_H

#include "base/scalar.h"
#include "dist/axis.h"
#include "summa/pack.h"

/* Shared indices that are consecutive in the local matrix.  before: number of indices shared by the same two processes
 * that precede the stretch. */
struct hs_stretch {
    int64_t local, before, length;
};

struct hs_shares {
    int others;     /* number of processes of the other layout on the axis */
    int64_t *count; /* number of indices shared with process i */
    int64_t *first; /* the stretches shared with process i are [first[i], first[i + 1]) */
    struct hs_stretch *stretch;
};

/* Makes the shares of process `me` of axis `mine` with all processes of `theirs`, an axis of the same indices.
 * HSUMMA_ERR_MEMORY. */
hsumma_status hs_shares_make(struct hs_shares *shares, const struct hs_axis *mine, int me, const struct hs_axis *theirs,
                             const struct hs_allocator *memory);
void hs_shares_free(struct hs_shares *shares, const struct hs_allocator *memory);

/* The block that a process shares with process `with` of the other layout, as stored in its local matrix. */
struct hs_shared {
    const struct hs_shares *axis; /* shares of the rows, axis[0], and of the columns, axis[1] */
    int with[2];                  /* coordinates of the other process in the other layout */
};

static inline int64_t hs_shared_elements(const struct hs_shared *block)
{
    return block->axis[0].count[block->with[0]] * block->axis[1].count[block->with[1]];
}

/* Packs elements [begin, end) of a block into a message.  Here and below begin < end. */
void hs_shared_pack(const struct hs_shared *block, const struct hs_matrix *from, size_t size, int64_t begin,
                    int64_t end, char *message);
/* to = beta * to + message, for elements [begin, end) of a block. */
void hs_shared_unpack(const struct hs_shared *block, const struct hs_matrix *to, const struct hs_scalar *scalar,
                      const void *beta, int64_t begin, int64_t end, const char *message);
/* to = beta * to + from, for elements [begin, end) of a block that stays on one process. */
void hs_shared_copy(const struct hs_shared *source, const struct hs_matrix *from, const struct hs_shared *target,
                    const struct hs_matrix *to, const struct hs_scalar *scalar, const void *beta, int64_t begin,
                    int64_t end);

#endif
