/* Which process goes to which place of a grid: by rows, by columns, or so that each node has a near-square tile. */
#ifndef HS_HSUMMA_CONTEXT_TILING_H
#define HS_HSUMMA_CONTEXT_TILING_H

#include "coll/schedule/topology.h"
#include "dist/grid.h"

/*
 * Turns rank[0 .. rows * columns), processes in the order that the letter says, into the table of the grid by rows:
 * 'R' they are, 'C' they are listed by columns, 'A' any order will do.  Then each node has a tile of the grid, and each
 * of its sockets a tile of that (hs_tiling_arrange); without a topology (NULL, or of size 0) 'A' is 'R'.
 * HSUMMA_ERR_MEMORY: the table still has all processes.
 */
hsumma_status hs_grid_order(const int extent[2], char order, const struct hs_topology *topology, int *rank,
                            const struct hs_allocator *memory);

/*
 * Rearranges the table of a grid by rows.  part[l][rank] names the part of a rank on level l of `levels`, outermost
 * first.  The measure of a part is the number of rows and columns of the grid that it touches: a panel enters it for
 * each.  The grid is cut into strips of rows, or of columns, which are filled with one part after the other, the
 * largest first; the thickness is the one with which the worst part measures least.  If none does better than the table
 * as given, that stays.  In each part that is a rectangle the parts of the next level are arranged likewise.  Errors as
 * above.
 */
hsumma_status hs_tiling_arrange(const int extent[2], int levels, const int *const *part, int *rank,
                                const struct hs_allocator *memory);

#endif
