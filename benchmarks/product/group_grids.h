/* The I x J grids of groups that divide a grid of processes. */
#ifndef HS_BENCHMARKS_PRODUCT_GROUP_GRIDS_H
#define HS_BENCHMARKS_PRODUCT_GROUP_GRIDS_H

typedef struct group_grid {
    int rows, cols, groups; /* groups = rows * cols */
    char name[24];          /* "2x4" */
} group_grid;

/* All group grids of an nprow x npcol grid, sorted by number of groups, then by rows; NULL if out of memory. */
group_grid *group_grids(int nprow, int npcol, int *count);

#endif
