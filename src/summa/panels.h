/*
 * Panels: how the looped dimension is cut.
 *
 * A panel is a set of intervals, not an interval.  The looped dimension is cut wherever a block of either moving
 * operand ends; the intervals that one pair of owners (one of each moving operand) has are taken together in ascending
 * order.  Round after round each pair contributes the next indices of its sequence, a turn of them, cut into innermost
 * panels of width b; a pair that has none left is passed over.  So a panel has one owner per operand and a width that
 * does not depend on the blocking, and panels that follow each other have other owners every turn.  An outer panel is a
 * run of inner ones of one turn: boundaries and order of the innermost panels depend on the turn, but not on the
 * levels, and neither do the bits of the result.
 */
#ifndef HS_SUMMA_PANELS_H
#define HS_SUMMA_PANELS_H

#include "base/memory.h"
#include "base/status.h"
#include "dist/grid.h"
#include "dist/overlap.h"

struct hs_pair {
    int owner[2];     /* coordinate of the owner of each moving operand, on the axis where the looped dimension lies */
    int64_t width;    /* indices that they own together */
    int64_t at;       /* the first of them */
    int64_t local[2]; /* local index of the first of them on each owner */
};

struct hs_pairs {
    const struct hs_axis *axis[2]; /* the looped dimension in the two moving operands */
    struct hs_pair *pair;
    int count;
    int changes[2]; /* how often an operand's owner changes from one pair to the next, the first after the last */
    int64_t width_max;
    int in_place[2]; /* 1: what any pair owns lies in one piece of the owner's memory, in the same order */
};

hsumma_status hs_pairs_make(const struct hs_axis *x, const struct hs_axis *y, const struct hs_allocator *memory,
                            struct hs_pairs *pairs);

/*
 * Reorders the pairs so that those which follow each other have owners on different nodes, for both operands.
 * mates: the number of neighbours among each operand's owners that share a node, at least 1.
 */
hsumma_status hs_pairs_alternate(struct hs_pairs *pairs, const int mates[2], const struct hs_allocator *memory);
void hs_pairs_free(const struct hs_allocator *memory, struct hs_pairs *pairs);

struct hs_panel {
    int64_t at; /* its first index; further ones follow by walking the overlap of the owners */
    int32_t width;
    int32_t pair;
};

/* Panels of one level: tier panel o consists of the innermost panels first[o] .. first[o + 1) - 1. */
struct hs_tier {
    int count;
    int32_t *first;
    int32_t *of; /* innermost panel -> tier panel */
};

struct hs_panels {
    struct hs_pairs pairs;
    int count, tiers;
    int64_t width; /* of an innermost panel that is not the last of its pair */
    struct hs_panel *panel;
    struct hs_tier tier[HS_LEVELS_MAX];
};

/* All that a pair owns is one turn. */
#define HS_WHOLE_TURN INT64_MAX

/*
 * width[l] is the width of tier l, outermost first, each a multiple of the next; a turn is a multiple of width[0], or
 * HS_WHOLE_TURN.  Takes `pairs` over, also on failure.
 */
hsumma_status hs_panels_make(struct hs_pairs *pairs, int tiers, const int64_t *width, int64_t turn,
                             const struct hs_allocator *memory, struct hs_panels *panels);
void hs_panels_free(const struct hs_allocator *memory, struct hs_panels *panels);

/* Indices in tier panel o. */
int64_t hs_tier_width(const struct hs_panels *panels, int tier, int o);
/* The widest panel of a tier. */
int64_t hs_tier_width_max(const struct hs_panels *panels, int tier);
/* Indices that come before innermost panel t inside its tier panel. */
int64_t hs_tier_offset(const struct hs_panels *panels, int tier, int t);
/* The innermost panel behind the batch of t.  Batches are `owners` panels of the outermost tier each, from panel 0 on.
 */
int hs_batch_end(const struct hs_panels *panels, int owners, int t);
/* A walk over the intervals of innermost panel t. */
struct hs_overlap hs_panel_walk(const struct hs_panels *panels, int t);

#endif
