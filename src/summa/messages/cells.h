/*
 * The cells of a line: its members that are on one node.  A panel comes to each cell once, into a tile in the node's
 * shared memory that all members read.  Between cells a collective runs over one member of each, the carrier: of the
 * panels whose root has number i in its own cell, member i modulo the size of the cell, so that several roots of a node
 * keep several carriers of the others busy, and a root carries its own.
 */
#ifndef HS_SUMMA_MESSAGES_CELLS_H
#define HS_SUMMA_MESSAGES_CELLS_H

#include "coll/schedule/topology.h"
#include "dist/grid.h"
#include "summa/node/node.h"

struct hs_cells {
    struct hs_topology line; /* its members, by their coordinates on the line */
    const struct hs_division *division;
    int me;        /* this process's cell */
    int members;   /* of that cell */
    int carriers;  /* different ones: members of the largest cell */
    int *carrier;  /* places in the grid's table: of cell c the i-th is carrier[i * cells + c] */
    int *mate;     /* of this cell's members: their indices in the node's directory */
    int before[2]; /* of the lines of the same axis with several members on this node, those before this one and their
                      members there; */
    int all[2];    /* all of them */
};

/* The node of a member of a line along `axis`; the line is named by its coordinate on the other axis. */
static inline int hs_node_on_line(const struct hs_topology *topology, const struct hs_grid *grid, int axis, int line,
                                  int member)
{
    return topology->division[HS_NODE].of[grid->rank[hs_grid_index(grid, axis, member, line)]];
}

/* The topology of a group's members alone, which are numbered from member `first` on; `of`: of all ranks. */
hsumma_status hs_group_topology(const struct hs_group *group, int first, const struct hs_topology *of,
                                const struct hs_allocator *memory, struct hs_topology *topology);

/*
 * Of the line through this process along `axis`.  topology: of the communicator.  HSUMMA_ERR_MEMORY has left nothing
 * behind.
 */
hsumma_status hs_cells_make(struct hs_cells *cells, const struct hs_grid *grid, int axis,
                            const struct hs_topology *topology, const struct hs_allocator *memory);
void hs_cells_free(struct hs_cells *cells, const struct hs_allocator *memory);

/*
 * Levels over cells for levels over members: 1 if every group is a union of cells, and all have equally many; else 0.
 */
int hs_cells_factors(const struct hs_division *division, const struct hs_factors *members, struct hs_factors *over);

/* Which member of this cell carries what a root sends or receives. */
static inline int hs_cells_carrier(const struct hs_cells *cells, int root)
{
    return cells->division->index[root] % cells->members;
}

/* An execution as the processes of a node count it: whose memory, its number, and whether its tiles may be written. */
struct hs_turn {
    struct hs_product_memory *shared;
    uint64_t execution;
    int entered;
};

/* Whether a member of this cell has come so far; before the first step nothing is asked of anybody. */
static inline int hs_cells_told(const struct hs_cells *cells, const struct hs_turn *turn, int member, int counter,
                                int64_t steps)
{
    return steps <= 0 || hs_signalled(&turn->shared->directory, cells->mate[member], counter,
                                      hs_node_progress(turn->execution, steps));
}
/* Whether all have. */
int hs_cells_all_told(const struct hs_cells *cells, const struct hs_turn *turn, int counter, int64_t steps);

#endif
