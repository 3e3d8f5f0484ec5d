/*
 * The cells of a line: a cell is the members of the line on one node.  A panel of A or B enters each cell once, into a
 * buffer in the node's shared memory that all members read.  Collectives between cells run over one member of each, the
 * carrier: if the root is member i of its own cell, the carrier of a cell is its member i modulo the size of the cell.
 * So a root carries its own panels, and the roots of one node use different carriers on the other nodes.
 */
#ifndef HS_SUMMA_MESSAGES_CELLS_H
#define HS_SUMMA_MESSAGES_CELLS_H

#include "coll/schedule/topology.h"
#include "dist/box.h"
#include "dist/grid.h"
#include "summa/node/node.h"

struct hs_cells {
    struct hs_topology line;            /* topology of the line's members, by coordinate on the line */
    const struct hs_division *division; /* the division of `line` by node, whose parts are the cells */
    int me;                             /* index of this process's cell */
    int members;                        /* number of members of this process's cell */
    int carriers;                       /* number of sets of carriers: the number of members of the largest cell */
    int *carrier;      /* carrier[i * division->parts + c]: carrier of cell c in set i, as an index in the grid */
    struct hs_box box; /* the places of cells in a torus, if they are numbered in the order of the fabric */
    int *mate;         /* mate[i]: index in the node's directory of member i of this process's cell */
    /* [0]: number of lines along the axis with several members on this node; [1]: total number of these members on this
     * node. */
    int before[2]; /* counts only the lines before this process's line */
    int all[2];    /* counts all lines */
};

/* The node of a member of a line along `axis`.  line: the line's coordinate on the other axis. */
static inline int hs_node_on_line(const struct hs_topology *topology, const struct hs_grid *grid, int axis, int line,
                                  int member)
{
    return hs_part_of(&topology->division[HS_NODE], hs_grid_rank(grid, hs_grid_index(grid, axis, member, line)));
}

/* A line among those that begin on the same node. */
struct hs_fabric_line hs_line_in_fabric(const struct hs_topology *topology, const struct hs_grid *grid, int axis,
                                        int line);

/* The shares of the dimensions of a torus in the broadcasts of lines along both axes (hs_box_share), which the first of
 * these lines represent.  share[axis][d]: of dimension d.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_shares_in_fabric(const struct hs_topology *topology, const struct hs_grid *grid,
                                  const struct hs_allocator *memory, int share[2][HS_FABRIC_DIMS]);

/* Makes the topology of a group, whose members are numbered cyclically from `first` on.  of: the topology of all ranks.
 */
hsumma_status hs_group_topology(const struct hs_group *group, int first, const struct hs_topology *of,
                                const struct hs_allocator *memory, struct hs_topology *topology);

/*
 * Makes the cells of the line through this process along `axis`.  topology: of the communicator.  in_fabric: 1 numbers
 * the cells in the order of their nodes in the fabric (hs_fabric_order), if it is known; otherwise they are numbered in
 * the order of their first members, as sums of C require.  Local; on HSUMMA_ERR_MEMORY nothing stays allocated.
 */
hsumma_status hs_cells_make(struct hs_cells *cells, const struct hs_grid *grid, int axis, int in_fabric,
                            const struct hs_topology *topology, const struct hs_allocator *memory);
void hs_cells_free(struct hs_cells *cells, const struct hs_allocator *memory);

/*
 * Converts levels over members into levels over cells and returns 1.  Returns 0 if that is impossible: more than one
 * level has several members, and a group cuts through a cell, cells differ in size, or a cell is not contiguous.
 */
int hs_cells_factors(const struct hs_division *division, const struct hs_factors *members, struct hs_factors *over);

/* The use of product memory by one execution. */
struct hs_node_execution {
    struct hs_product_memory *shared; /* NULL if nothing is shared */
    uint64_t number;                  /* number of the execution (hs_node_count) */
    int entered;                      /* 1 once earlier executions are complete, so that the memory may be written */
};

/* Whether a member of this cell has signalled `steps` steps on a counter; true for steps <= 0. */
static inline int hs_cells_signalled(const struct hs_cells *cells, const struct hs_node_execution *execution,
                                     int member, int counter, int64_t steps)
{
    return steps <= 0 || hs_signalled(&execution->shared->directory, cells->mate[member], counter,
                                      hs_node_progress(execution->number, steps));
}
/* Whether all members of this cell have signalled `steps` steps on a counter. */
int hs_cells_all_signalled(const struct hs_cells *cells, const struct hs_node_execution *execution, int counter,
                           int64_t steps);

#endif
