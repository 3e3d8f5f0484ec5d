/*
 * Panels: how the looped dimension is cut.
 *
 * A panel is a set of intervals, not one interval.  The looped dimension is cut wherever a block of either moving
 * operand ends.  The intervals of one pair of owners (one of each moving operand) form a sequence in ascending order.
 * In each round every pair with indices left contributes one turn: the next indices of its sequence, cut into innermost
 * panels of one width.  So a panel has one owner per operand and can be wider than a block, and the owners change from
 * turn to turn.  An outer panel is a run of inner panels of one turn.  So the boundaries and the order of the innermost
 * panels, and the bits of the result, depend on the turn but not on the levels.
 */
#ifndef HS_SUMMA_PANELS_H
#define HS_SUMMA_PANELS_H

#include "base/memory.h"
#include "base/status.h"
#include "dist/grid.h"
#include "dist/overlap.h"

struct hs_pair {
    int owner[2];     /* coordinate of each operand's owner on the grid axis of the looped dimension */
    int64_t width;    /* number of indices that both owners have */
    int64_t at;       /* the first index that both owners have */
    int64_t local[2]; /* local index of `at` on each owner */
};

enum { HS_WIDTHS = 8 };
struct hs_pairs {
    const struct hs_axis *axis[2]; /* the looped dimension in the two moving operands */
    struct hs_pair *pair;
    int count;
    int changes[2]; /* for each operand, number of changes of its owner from pair to pair, cyclically */
    int64_t width_max;
    /* The widths of the pairs, and how many pairs have each; `widths` is HS_WIDTHS + 1 if there are more of them. */
    struct hs_pair_width {
        int64_t width, count;
    } of_width[HS_WIDTHS];
    int widths;
    int in_place[2]; /* for each operand, 1 if the indices of every pair are consecutive in the owner's memory */
};

/* The number of widths to count, each with a number of pairs: one for each pair if they have too many widths. */
static inline int hs_pair_widths(const struct hs_pairs *pairs)
{
    return pairs->widths <= HS_WIDTHS ? pairs->widths : pairs->count;
}
static inline struct hs_pair_width hs_pair_width(const struct hs_pairs *pairs, int i)
{
    return pairs->widths <= HS_WIDTHS ? pairs->of_width[i] : (struct hs_pair_width){pairs->pair[i].width, 1};
}

/*
 * ordered: 1 if each run of consecutive indices with the same owners is a pair of its own, so that with HS_WHOLE_TURN
 * the panels are in ascending order of their indices.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_pairs_make(const struct hs_axis *x, const struct hs_axis *y, int ordered,
                            const struct hs_allocator *memory, struct hs_pairs *pairs);

/*
 * Reorders the pairs so that, as far as possible, consecutive pairs have owners on different nodes, for both operands.
 * mates: for each operand, number of consecutive owners that share a node, at least 1.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_pairs_alternate(struct hs_pairs *pairs, const int mates[2], const struct hs_allocator *memory);
void hs_pairs_free(const struct hs_allocator *memory, struct hs_pairs *pairs);

struct hs_panel {
    int64_t at; /* first index of the panel; hs_panel_walk gives the others */
    int32_t width;
    int32_t pair; /* index of its pair of owners */
};

/* Panels of one level: tier panel o consists of the innermost panels first[o] .. first[o + 1] - 1. */
struct hs_tier {
    int count;
    int32_t *first;
    int32_t *of; /* innermost panel t lies in tier panel of[t] */
};

struct hs_panels {
    struct hs_pairs pairs;
    int count, tiers;
    int run;       /* number of innermost panels, from the first, that executions multiply; the caller may lower it */
    int64_t width; /* width of the innermost panels; only the last panel of a pair may be narrower */
    struct hs_panel *panel;
    struct hs_tier tier[HS_LEVELS_MAX];
};

/* The value of `turn` with which all indices of a pair form one turn. */
#define HS_WHOLE_TURN INT64_MAX

/*
 * width[l] is the width of tier l, outermost first; each is a multiple of the next.  turn is a multiple of width[0], or
 * HS_WHOLE_TURN.  Takes ownership of `pairs`, even on failure.  HSUMMA_ERR_MEMORY, also for more than 2^31 - 2 panels.
 */
hsumma_status hs_panels_make(struct hs_pairs *pairs, int tiers, const int64_t *width, int64_t turn,
                             const struct hs_allocator *memory, struct hs_panels *panels);
void hs_panels_free(const struct hs_allocator *memory, struct hs_panels *panels);

/* Number of indices in tier panel o. */
int64_t hs_tier_width(const struct hs_panels *panels, int tier, int o);
/* The width of the widest panel of a tier. */
int64_t hs_tier_width_max(const struct hs_panels *panels, int tier);
/* Number of indices that precede innermost panel t in its tier panel. */
int64_t hs_tier_offset(const struct hs_panels *panels, int tier, int t);
/* One past the last innermost panel of the batch that contains innermost panel t.  A batch is `owners` consecutive
 * panels of the outermost tier. */
int hs_batch_end(const struct hs_panels *panels, int owners, int t);
/* Begins a walk over the intervals of a pair of owners, at the first index of innermost panel t.  The walk does not end
 * with the panel; the caller stops it. */
struct hs_overlap hs_panel_walk(const struct hs_panels *panels, int t);

#endif
