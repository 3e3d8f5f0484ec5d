/*
 * Panels: how the looped dimension is cut.
 *
 * A panel is a set of intervals, not one interval.  The looped dimension is cut wherever a block of either moving
 * operand ends.  The intervals of one pair of owners (one of each moving operand) form a sequence in ascending order.
 * In each round every pair contributes the next indices of its sequence, a turn of them, cut into innermost panels of
 * width b; a pair with none left is skipped.  So a panel has one owner per operand, its width does not depend on the
 * blocking, and the owners change with every turn.  An outer panel is a run of inner panels of one turn: boundaries and
 * order of the innermost panels depend on the turn but not on the levels, and so do the bits of the result.
 */
#ifndef HS_SUMMA_PANELS_H
#define HS_SUMMA_PANELS_H

#include "base/memory.h"
#include "base/status.h"
#include "dist/grid.h"
#include "dist/overlap.h"

struct hs_pair {
    int owner[2];     /* coordinate of each operand's owner on the grid axis of the looped dimension */
    int64_t width;    /* number of indices that both own */
    int64_t at;       /* the first of them */
    int64_t local[2]; /* local index of the first of them on each owner */
};

struct hs_pairs {
    const struct hs_axis *axis[2]; /* the looped dimension in the two moving operands */
    struct hs_pair *pair;
    int count;
    int changes[2]; /* number of changes of an operand's owner from one pair to the next, cyclically */
    int64_t width_max;
    int in_place[2]; /* 1: the indices of every pair are consecutive, in order, in the owner's memory */
};

hsumma_status hs_pairs_make(const struct hs_axis *x, const struct hs_axis *y, const struct hs_allocator *memory,
                            struct hs_pairs *pairs);

/*
 * Reorders the pairs so that consecutive pairs have owners on different nodes, for both operands.  mates: number of
 * consecutive owners of each operand that share a node, at least 1.
 */
hsumma_status hs_pairs_alternate(struct hs_pairs *pairs, const int mates[2], const struct hs_allocator *memory);
void hs_pairs_free(const struct hs_allocator *memory, struct hs_pairs *pairs);

struct hs_panel {
    int64_t at; /* its first index; a walk over the owners' overlap gives the others */
    int32_t width;
    int32_t pair;
};

/* Panels of one level: tier panel o consists of the innermost panels first[o] .. first[o + 1) - 1. */
struct hs_tier {
    int count;
    int32_t *first;
    int32_t *of; /* tier panel of each innermost panel */
};

struct hs_panels {
    struct hs_pairs pairs;
    int count, tiers;
    int64_t width; /* of an innermost panel, unless it is the last of its pair */
    struct hs_panel *panel;
    struct hs_tier tier[HS_LEVELS_MAX];
};

/* All indices of a pair form one turn. */
#define HS_WHOLE_TURN INT64_MAX

/*
 * width[l] is the width of tier l, outermost first; each is a multiple of the next.  turn is a multiple of width[0], or
 * HS_WHOLE_TURN.  Takes ownership of `pairs`, even on failure.
 */
hsumma_status hs_panels_make(struct hs_pairs *pairs, int tiers, const int64_t *width, int64_t turn,
                             const struct hs_allocator *memory, struct hs_panels *panels);
void hs_panels_free(const struct hs_allocator *memory, struct hs_panels *panels);

/* Indices in tier panel o. */
int64_t hs_tier_width(const struct hs_panels *panels, int tier, int o);
/* The widest panel of a tier. */
int64_t hs_tier_width_max(const struct hs_panels *panels, int tier);
/* Number of indices of the tier panel that precede innermost panel t. */
int64_t hs_tier_offset(const struct hs_panels *panels, int tier, int t);
/* One past the last innermost panel of the batch that holds t.  From panel 0 on, each batch is `owners` panels of the
 * outermost tier. */
int hs_batch_end(const struct hs_panels *panels, int owners, int t);
/* Begins a walk over the intervals of innermost panel t. */
struct hs_overlap hs_panel_walk(const struct hs_panels *panels, int t);

#endif
