/* The order of processes on a grid: by rows, by columns, or so that each node has a near-square tile. */
#ifndef HS_HSUMMA_CONTEXT_TILING_H
#define HS_HSUMMA_CONTEXT_TILING_H

#include "coll/schedule/topology.h"
#include "dist/grid.h"

/*
 * Turns rank[0 .. rows * columns), a list of processes, into the grid's table by rows.  order is the order of the list:
 * 'R' by rows, 'C' by columns, 'A' any order.  For 'A' each node gets a tile of the grid, and each of its sockets a
 * tile of the node's tile (hs_tiling_arrange); without a topology (NULL, or of size 0) 'A' means 'R'.  After
 * HSUMMA_ERR_MEMORY the table still has all processes.
 */
hsumma_status hs_grid_order(const int extent[2], char order, const struct hs_topology *topology, int *rank,
                            const struct hs_allocator *memory);

/*
 * Rearranges rank[], a grid's table by rows.  part[l] divides the ranks on level l of `levels`, outermost first.  The
 * measure of a part is the number of grid rows and columns that it touches, because a panel enters the part once for
 * each of them.  The grid is cut into strips of rows, or of columns, which are filled part by part, the largest first;
 * the thickness of the strips minimises the measure of the worst part.  The given table remains if it is at least as
 * good.  Parts that are rectangles are then arranged on the next level by the same rule.  Errors as for hs_grid_order.
 */
hsumma_status hs_tiling_arrange(const int extent[2], int levels, const struct hs_division *const *part, int *rank,
                                const struct hs_allocator *memory);

#endif
