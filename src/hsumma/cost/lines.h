/*
 * The placement of a grid's lines on nodes.  The price of a collective is that of one line among many: this file says
 * which line represents them, what it shares with the others, and, if nodes share panels, its cells.
 */
#ifndef HS_HSUMMA_COST_LINES_H
#define HS_HSUMMA_COST_LINES_H

#include "summa/messages/mover.h"

/*
 * A line that represents all lines of its kind (same axis and level): the first or the last of them, whichever spans
 * more nodes.  A level divides each line of the grid into groups, of which only the one with the root is busy.  The
 * busy groups of all parallel lines work at the same time and share their nodes' outgoing links.
 */
struct hs_line {
    int axis, nodes;
    int cells;             /* its members are cells, each on a node of its own, independent of the ranks in `group` */
    struct hs_group group; /* `me` is unused */
    uint64_t where;        /* a hash, equal for lines with the same placement */
    const struct hs_axis *own, *want;
    /* On the most crowded of its nodes: the number of busy lines that leave it together, each weighted by its data
     * relative to the longest line's. */
    double sharing;
    /* Like sharing, for the first messages, which leave the roots of the lines: smaller if the roots are on different
     * nodes. */
    double crowd;
};

/* The cells of all lines along an axis, and the line that represents them. */
struct hs_line_cells {
    struct hs_cells most; /* of the line with most cells (the first such line), as seen from its largest cell */
    /* Levels whose strides are multiples of this cut through no cell; 0: every level with groups does. */
    int together;
    /* Members of the smallest cell of all lines; of the smallest with several members, 0: none has. */
    int least, least_of_several;
    /* On the node with most of them: lines with several members there; all members of these. */
    int lines, members;
};

/* The time of an exchange per byte of the operand, in seconds (exchange_pace.h). */
struct hs_exchange_pace {
    double alone;    /* with one owner's panel in flight; 0: not computed yet */
    double together; /* with panels of all owners in flight together */
    double messages; /* messages of one panel, for the process with most of them */
    double part;     /* share of the operand's bytes in one message, on average */
};

/* An exchanged operand, identified by its axis and the wanted axis, which must outlive the table. */
enum { HS_EXCHANGED = 6 };
struct hs_exchanged {
    const struct hs_axis *own, *want;
    int owners;                      /* number of owners examined, at even distances; 0: all lines have the same root */
    int *root;                       /* root[i * lines + line]: the root on a line for the i-th of them */
    struct hs_exchange_pace pace[2]; /* [1]: with spread (hs_spec) */
};

/* The placement of a grid's processes, with the results computed so far. */
enum { HS_LINES = 128 };
struct hs_line_table {
    const struct hs_grid *grid;
    /* Of the ranks in the grid's table; NULL: all on one node, or each on its own. */
    const struct hs_topology *topology;
    int one_node;                  /* what a NULL topology means */
    int *on_node;                  /* scratch: two numbers per node; NULL if topology is NULL */
    double *flow;                  /* scratch, likewise */
    int shares;                    /* `cells` is valid */
    struct hs_line_cells cells[2]; /* of the lines along each axis */
    int exchanges, *roots;         /* exchanges known so far; memory for all roots, NULL if topology is NULL */
    struct hs_exchanged exchange[HS_EXCHANGED];
    int known; /* lines known so far; all are forgotten when the table is full */
    struct hs_line line[HS_LINES];
};
hsumma_status hs_line_table_init(struct hs_line_table *lines, const struct hs_topology *topology, int one_node,
                                 const struct hs_grid *grid, const struct hs_allocator *memory);
/* Finds the cells, for specs that use them.  Does nothing without a topology of several nodes. */
hsumma_status hs_line_table_share(struct hs_line_table *lines, const struct hs_allocator *memory);
void hs_line_table_free(struct hs_line_table *lines, const struct hs_allocator *memory);

/* A line of `size` members (or cells), `stride` apart, for a moving operand. */
struct hs_line hs_line_of(struct hs_line_table *lines, int cells, const struct hs_role *role, int stride, int size);

/* The entry of an exchanged operand. */
struct hs_exchanged *hs_exchanged_of(struct hs_line_table *lines, const struct hs_role *role);

/* The outermost level whose groups cut through a cell of some line, or have unequal numbers of cells; -1: none. */
int hs_line_cut(const struct hs_line_table *lines, int axis, const struct hs_factors *members);
/*
 * The cells over which the levels on an axis run, with their levels in *over.  Returns NULL, with the levels over
 * members in *over, if `cells` is 0, the table has no cells, or a level cuts through a cell.
 */
const struct hs_cells *hs_line_cells(const struct hs_line_table *lines, int cells, int axis,
                                     const struct hs_factors *members, struct hs_factors *over);

#endif
