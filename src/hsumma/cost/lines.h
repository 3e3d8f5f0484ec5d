/*
 * The placement of a grid's lines on nodes.  All lines of a grid run a collective at the same time, and its price is
 * computed for one of them.  This file finds the line that represents all, the number of lines that share its nodes'
 * links and, if the processes of a node share panels, its cells.
 */
#ifndef HS_HSUMMA_COST_LINES_H
#define HS_HSUMMA_COST_LINES_H

#include "summa/messages/mover.h"

/*
 * A line that represents all lines of its kind (same axis and level): the first or the last of them, whichever spans
 * more nodes; with cells, any of them.  A level divides each line of the grid into groups of members `stride` apart.  A
 * group is busy if its members' coordinates equal the root's modulo the stride: one group on the outermost level, all
 * groups on the innermost.  The busy groups of all parallel lines work at the same time and share their nodes' outgoing
 * links.
 */
struct hs_line {
    int axis, nodes;
    int cells;             /* 1 if its members are cells, each on a node of its own; the ranks in `group` are unused */
    struct hs_group group; /* `me` is unused */
    const struct hs_box *box; /* of one of the lines, if the cells of each line fill a box, and it is one group */
    uint64_t where;           /* a hash, equal for lines with the same placement, sharing and crowd */
    const struct hs_axis *own, *want;
    /* The largest number, over this line's nodes, of busy lines that share the node's outgoing link, including this
     * one.  Each line is weighted by its data relative to the longest line's. */
    double sharing;
    double any_root; /* the same before the roots are looked at, and not rounded: equal for lines of any size */
    /* Like `sharing`, but for the first messages, which leave the roots of the lines.  Smaller than `sharing` if the
     * roots are on different nodes. */
    double crowd;
};

/* The cells of all lines along an axis, and the line that represents them. */
struct hs_line_cells {
    struct hs_cells most; /* cells of the (first) line with the most cells, as seen from its largest cell */
    /* Levels whose strides are multiples of this number cut through no cell.  0 if there is no such number, because
     * some line has cells that differ in size or are not contiguous. */
    int together;
    int alike; /* 1 if `together` is not 0 and all lines have as many cells: they then have the same levels of cells */
    /* Number of members of the smallest cell of all lines, and of the smallest cell with several members (0: none). */
    int least, least_of_several;
    /* Maxima over nodes: number of lines with several members on the node; number of these members. */
    int lines, members;
    int *nodes; /* number of cells of each line, followed by `extent` nodes of each line: those of its cells in order */
};

/* The time of an exchange per byte of the operand, in seconds (exchange_pace.h). */
struct hs_exchange_pace {
    double alone;    /* seconds per byte with one panel in flight; 0 if not computed yet */
    double together; /* seconds per byte with panels of all owners in flight together */
    double messages; /* mean number of messages of one panel on the process with most of them */
    double part;     /* mean share of a panel's bytes in one message */
};

/* An exchanged operand, identified by its axis and the wanted axis.  Both axes must outlive the table. */
enum { HS_EXCHANGED = 6 };
struct hs_exchanged {
    const struct hs_axis *own, *want;
    int among;          /* number of members of a line that owners are dealt to (hs_exchange_root) */
    int64_t most_taken; /* most looped indices of the owners that are dealt to one of them */
    int owners;         /* number of owners examined, at even distances; 0 if all lines have the same root, or without a
                           topology */
    int *root;          /* root[i * lines + line]: the root on a line for the i-th owner examined */
    struct hs_exchange_pace pace[2]; /* without [0] and with [1] hs_spec.spread */
};

/* The loads of links by an algorithm on lines, relative to the busiest link (links.c). */
struct hs_known_loads {
    const struct hs_alg *alg;
    uint64_t where;
    int size;
    int64_t unit;
    int pieces; /* hs_line_use.pieces */
    struct hs_parameters with;
    int64_t used; /* a number that grows with each use */
    int links;
    int *link;    /* link[0 .. links): the links that carry something */
    double *load; /* load[i]: that of link[i]; NULL if nothing is known */
};
enum { HS_WALKS = 4, HS_KNOWN_LOADS = 64 };
struct hs_link_table {
    /* Of all lines along an axis, the number of cells of each, followed by `extent` positions in the fabric of each,
     * and by the place of each cell among them, by its number in the order of members: walks[axis] are in that order,
     * walks[2 + axis] in that of the fabric; NULL if they are not known yet. */
    int *walks[HS_WALKS];
    struct hs_box *box[2]; /* box[axis][line]: of its cells, if those of all lines along the axis fill boxes; or NULL */
    struct hs_fabric_traffic scratch; /* without loads between uses */
    struct hs_known_loads known[HS_KNOWN_LOADS];
};

enum { HS_LINES = 128 };
/* A grid and the placement of its processes, with the lines and exchanges computed from them so far. */
struct hs_line_table {
    const struct hs_grid *grid;
    /* Topology of all ranks; NULL if all ranks are on one node, or each rank on its own. */
    const struct hs_topology *topology;
    int one_node;                  /* if topology is NULL: 1 if all ranks are on one node, 0 if each is on its own */
    int *node;                     /* of each process of the grid; NULL, as weight and flow, if topology is NULL */
    const struct hs_axis *weighed; /* what the lines that have `weight` want, and their axis; -1: none yet */
    int weighed_axis;
    double *weight;                /* weight[line]: data of a line relative to the longest line's */
    double *flow;                  /* scratch of two numbers per node */
    uint64_t placement;            /* a hash of the processes' positions in the fabric; 0 if it is unknown */
    struct hs_link_table *links;   /* NULL if the fabric is unknown */
    int shares;                    /* 1 if `cells` is valid */
    struct hs_line_cells cells[2]; /* cells of the lines along each axis */
    int exchanges, *roots;         /* number of exchanges known so far; memory for their hs_exchanged.root */
    struct hs_exchanged exchange[HS_EXCHANGED];
    int known; /* number of lines known so far; all are forgotten when the table is full */
    struct hs_line line[HS_LINES];
};
/* The node of a member of a line along `axis`.  Only with a topology. */
static inline int hs_line_node(const struct hs_line_table *lines, int axis, int line, int member)
{
    return lines->node[hs_grid_index(lines->grid, axis, member, line)];
}

/* The boxes of the lines along an axis (hs_link_table.box). */
static inline const struct hs_box *hs_line_boxes(const struct hs_line_table *lines, int axis)
{
    return lines->links ? lines->links->box[axis] : NULL;
}

/* The nodes of the cells of a line, and their number.  Only with cells. */
static inline const int *hs_line_cell_nodes(const struct hs_line_table *lines, int axis, int line, int *count)
{
    const int *nodes = lines->cells[axis].nodes, *extent = lines->grid->extent;
    *count = nodes[line];
    return nodes + extent[1 - axis] + (size_t)line * (size_t)extent[axis];
}

/* After an error, too, hs_line_table_free frees the table.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_line_table_init(struct hs_line_table *lines, const struct hs_topology *topology, int one_node,
                                 const struct hs_grid *grid, const struct hs_allocator *memory);
/* Finds the cells, for specs that use them.  Does nothing without a topology of several nodes.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_line_table_share(struct hs_line_table *lines, const struct hs_allocator *memory);
void hs_line_table_free(struct hs_line_table *lines, const struct hs_allocator *memory);

/* Adds to a hash the nodes of a grid's processes, or their positions in the fabric if it is known. */
uint64_t hs_placement_hash(uint64_t hash, const struct hs_topology *topology, const struct hs_grid *grid);

/* The line that represents all lines of `size` members (or cells), `stride` apart, for a moving operand. */
struct hs_line hs_line_of(struct hs_line_table *lines, int cells, const struct hs_role *role, int stride, int size);

/* The data of one of the lines that a line represents, relative to the longest line's. */
double hs_line_weight(const struct hs_line *line, int number);

/* The entry of an exchanged operand, which is made if there is none. */
struct hs_exchanged *hs_exchanged_of(struct hs_line_table *lines, const struct hs_role *role);

/* The outermost level whose groups cut through a cell of a line, or have unequal numbers of cells; -1 if there is none.
 */
int hs_line_cut(const struct hs_line_table *lines, int axis, const struct hs_factors *members);
/*
 * The cells over which the levels on an axis run, with their levels in *over.  Returns NULL, with the levels over
 * members in *over, if `cells` is 0, the table has no cells, or a level cuts through a cell.
 */
const struct hs_cells *hs_line_cells(const struct hs_line_table *lines, int cells, int axis,
                                     const struct hs_factors *members, struct hs_factors *over);

#endif
