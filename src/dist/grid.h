/* P x Q processes, and the lines, groups and levels inside them. */
#ifndef HS_DIST_GRID_H
#define HS_DIST_GRID_H

#include <stddef.h>

struct hs_grid {
    int extent[2];   /* number of rows, number of columns */
    int coord[2];    /* coordinates of this process; both -1 if it is not in the grid */
    const int *rank; /* process (i, j) has rank[i * extent[1] + j] in the communicator; NULL if that is its index */
};

/* The rank at a place of a rank table; without a table (NULL) the rank is the place. */
static inline int hs_rank_in(const int *table, int place)
{
    return table ? table[place] : place;
}
/* The rank of the process at place i * extent[1] + j of a grid. */
static inline int hs_grid_rank(const struct hs_grid *grid, int place)
{
    return hs_rank_in(grid->rank, place);
}

/*
 * The processes at places base, base + stride, ... of a rank table: a row, a column, a level of one, or the whole grid.
 * If `at` is not NULL, they are at places at[base], at[base + stride], ... instead.  `me` is the index of this process
 * in the group.
 */
struct hs_group {
    const int *table; /* NULL if ranks are places */
    int base, stride, size, me;
    const int *at; /* NULL if base and stride count places of the table */
};

/* Distance in the rank table between neighbours along an axis (0: down a column, 1: along a row). */
int hs_grid_stride(const struct hs_grid *grid, int axis);
/* The place in the rank table of the process with coordinate on_axis on `axis` and on_other on the other axis. */
static inline int hs_grid_index(const struct hs_grid *grid, int axis, int on_axis, int on_other)
{
    return axis == 0 ? on_axis * grid->extent[1] + on_other : on_other * grid->extent[1] + on_axis;
}
/* The place of this process, which must be in the grid. */
static inline int hs_grid_me(const struct hs_grid *grid)
{
    return hs_grid_index(grid, 0, grid->coord[0], grid->coord[1]);
}
/* The coordinates of the process at a place. */
static inline void hs_grid_coordinates(const struct hs_grid *grid, int place, int coord[2])
{
    coord[0] = place / grid->extent[1];
    coord[1] = place % grid->extent[1];
}
/* The group of all processes of the grid.  Its `me` is meaningless in a process outside the grid. */
struct hs_group hs_grid_all(const struct hs_grid *grid);

/* The place of a member of a group in the rank table. */
static inline int hs_group_place(const struct hs_group *group, int member)
{
    int i = group->base + member * group->stride;
    return group->at ? group->at[i] : i;
}
/* The rank of a member of a group in the communicator. */
static inline int hs_group_rank(const struct hs_group *group, int member)
{
    return hs_rank_in(group->table, hs_group_place(group, member));
}

/*
 * A line of `extent` processes factored into levels, outermost first.  Level l has size[l] members; the sizes multiply
 * to the extent.  A coordinate is the sum of digit[l] * stride[l] (HSUMMA, Section III, for two levels).
 */
enum { HS_LEVELS_MAX = 6 };
struct hs_factors {
    int levels;
    int size[HS_LEVELS_MAX], stride[HS_LEVELS_MAX];
};

/* outer: sizes of all levels but the innermost.  Returns 0 if one is below 1 or the extent has no such factors. */
int hs_factors_make(struct hs_factors *factors, int extent, int outer_levels, const int *outer);
int hs_digit(const struct hs_factors *factors, int level, int coordinate);

/*
 * Merges levels so that sums over the line are bracketed as with a single level.  A level stays separate only if the
 * sizes of the levels inside it multiply to a power of two: the tree of coll/reduce/binomial.c is then composed of the
 * trees of its parts.  tier[i] is the original index of the innermost level merged into new level i, not counting
 * levels of size 1 (the outermost if all have size 1).
 */
void hs_factors_merge_for_sums(const struct hs_factors *factors, struct hs_factors *merged, int *tier);

#endif
