/* The order of processes on a grid: by rows, by columns, or so that each node has a near-square tile. */
#ifndef HS_HSUMMA_CONTEXT_TILING_H
#define HS_HSUMMA_CONTEXT_TILING_H

#include "coll/schedule/topology.h"
#include "dist/grid.h"

/*
 * Turns rank[0 .. rows * columns), a list of processes, into the grid's table by rows.  order says what the list is:
 * 'R': the table by rows; 'C': the table by columns; 'A': in any order.  For 'A' each node gets a tile of the grid, and
 * each of its sockets a tile of that (hs_tiling_arrange); without a topology (NULL, or of size 0) 'A' means 'R'.
 * HSUMMA_ERR_MEMORY: the table still has all processes.
 */
hsumma_status hs_grid_order(const int extent[2], char order, const struct hs_topology *topology, int *rank,
                            const struct hs_allocator *memory);

/*
 * Rearranges the table of a grid by rows.  part[l][rank] is the part of a rank on level l of `levels`, outermost first.
 * The measure of a part is the number of grid rows and columns that it touches, since a panel enters it for each of
 * them.  The grid is cut into strips of rows, or of columns, which are filled part by part, the largest first; the
 * thickness of the strips minimises the measure of the worst part.  A table that is at least as good stays as given.
 * Parts that are rectangles are arranged likewise on the next level.  Errors as for hs_grid_order.
 */
hsumma_status hs_tiling_arrange(const int extent[2], int levels, const int *const *part, int *rank,
                                const struct hs_allocator *memory);

#endif
