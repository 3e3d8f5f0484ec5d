/* P x Q processes, and the lines, groups and levels inside them. */
#ifndef HS_DIST_GRID_H
#define HS_DIST_GRID_H

#include <stddef.h>

struct hs_grid {
    int extent[2];   /* rows, columns */
    int coord[2];    /* of this process; -1, -1 outside */
    const int *rank; /* of process (i, j) in the communicator: rank[i * extent[1] + j] */
};

/*
 * Processes at base, base + stride, ... of a rank table: a row, a column, a level of one of them, the whole grid; or,
 * with `at`, at the places at[base], at[base + stride], ... of the table.  me is the index of this process.
 */
struct hs_group {
    const int *table;
    int base, stride, size, me;
    const int *at; /* NULL: base and stride are of the table */
};

/* Distance in the rank table between neighbours along an axis (0: down a column, 1: along a row). */
int hs_grid_stride(const struct hs_grid *grid, int axis);
/* The place in the rank table of the process with these coordinates, on the axis `axis` and on the other one. */
static inline int hs_grid_index(const struct hs_grid *grid, int axis, int on_axis, int on_other)
{
    return axis == 0 ? on_axis * grid->extent[1] + on_other : on_other * grid->extent[1] + on_axis;
}
/* The whole grid; me is meaningless outside it. */
struct hs_group hs_grid_all(const struct hs_grid *grid);

/* The place of a member in the table, and its rank. */
static inline int hs_group_place(const struct hs_group *group, int member)
{
    int i = group->base + member * group->stride;
    return group->at ? group->at[i] : i;
}
static inline int hs_group_rank(const struct hs_group *group, int member)
{
    return group->table[hs_group_place(group, member)];
}

/*
 * A line of `extent` processes factored into levels, outermost first: coordinate = sum of digit[l] * stride[l], where
 * level l has size[l] members and the sizes multiply to the extent (HSUMMA, Section III, for two levels).
 */
enum { HS_LEVELS_MAX = 6 };
struct hs_factors {
    int levels;
    int size[HS_LEVELS_MAX], stride[HS_LEVELS_MAX];
};

/* From the sizes of all levels but the last; returns 0 if they do not divide the extent. */
int hs_factors_make(struct hs_factors *factors, int extent, int outer_levels, const int *outer);
int hs_digit(const struct hs_factors *factors, int level, int coordinate);

/*
 * Merges levels so that sums over the line are bracketed as if it had one level: a level may stay apart only where the
 * levels inside it together have a power of two members (coll/reduce/binomial.c's tree then is the composition of its
 * parts). tier[i] is the original index of the innermost level merged into new level i.
 */
void hs_factors_merge_for_sums(const struct hs_factors *factors, struct hs_factors *merged, int *tier);

#endif
