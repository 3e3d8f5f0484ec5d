/*
 * Where the lines of a grid lie.  A price is that of one line of many; here is which one stands for them, what it
 * shares with the others, and, where nodes share panels, the cells that it runs over.
 */
#ifndef HS_HSUMMA_COST_LINES_H
#define HS_HSUMMA_COST_LINES_H

#include "summa/messages/mover.h"

/*
 * A line stands for all lines of its kind (same axis, same level): the first or the last of them, whichever spans more
 * nodes.  Of a level, those are busy at the same time that the root of the whole line belongs to, and all parallel to
 * them; a node's way out is shared by as many of them as the node has.
 */
struct hs_line {
    int axis, nodes;
    int cells;             /* its members are cells: each is on a node of its own, wherever the group's ranks are */
    struct hs_group group; /* me does not matter */
    uint64_t where;        /* equal for lines that lie alike */
    const struct hs_axis *own, *want;
    double sharing; /* what leaves the most crowded of its nodes together, in what the longest line of all carries */
    double crowd; /* the same of what leaves it first, from the lines' roots: less where they are on different nodes */
};

/* The cells of all lines along an axis, and the ones that stand for them. */
struct hs_line_cells {
    struct hs_cells most; /* of the line that has most cells, the first of these, as its largest cell sees them */
    int together;         /* levels whose strides are multiples of it cut through no cell; 0: only levels without
                             groups do not */
    int least, least_of_several; /* members of the smallest cell of all lines; of those with several; 0: none has */
    int lines, members;          /* on the node that has most: lines with several members there; their members */
};

/* What an exchange takes for each byte of the operand, in seconds (exchange_pace.h). */
struct hs_exchange_pace {
    double alone;    /* of one owner's panel; 0: not known yet */
    double together; /* for each of many, of all owners, under way together */
    double messages; /* of one panel, of the process that has most */
    double part;     /* of the operand's bytes in each, on average */
};

/* Of an operand that is exchanged, which its layout and the wanted one name; they stay there as long as the table. */
enum { HS_EXCHANGED = 6 };
struct hs_exchanged {
    const struct hs_axis *own, *want;
    int owners;                      /* some, at even distances; 0: all lines have the same root */
    int *root;                       /* root[i * lines + line]: the line's for the i-th of them */
    struct hs_exchange_pace pace[2]; /* [1]: spread (hs_spec) */
};

/* Where the processes of a grid are. */
enum { HS_LINES = 128 };
struct hs_line_table {
    const struct hs_grid *grid;
    const struct hs_topology
        *topology;                 /* of the ranks in the grid's table; NULL: all on one node, or each on its own */
    int one_node;                  /* what NULL means */
    int *on_node;                  /* room for two numbers of each node; NULL with a topology that is NULL */
    double *flow;                  /* likewise */
    int shares;                    /* `cells` is there */
    struct hs_line_cells cells[2]; /* of the lines along each axis */
    int exchanges, *roots;         /* looked at so far; room for all roots, as on_node */
    struct hs_exchanged exchange[HS_EXCHANGED];
    int known; /* lines looked at so far; when there are too many, they are forgotten */
    struct hs_line line[HS_LINES];
};
hsumma_status hs_line_table_init(struct hs_line_table *lines, const struct hs_topology *topology, int one_node,
                                 const struct hs_grid *grid, const struct hs_allocator *memory);
/* Looks for the cells, for specs that have them.  Nothing to do where no topology says that there are several nodes. */
hsumma_status hs_line_table_share(struct hs_line_table *lines, const struct hs_allocator *memory);
void hs_line_table_free(struct hs_line_table *lines, const struct hs_allocator *memory);

/* A line of `size` members, or cells, `stride` apart, of an operand that moves. */
struct hs_line hs_line_of(struct hs_line_table *lines, int cells, const struct hs_role *role, int stride, int size);

/* What is known of an operand that is exchanged. */
struct hs_exchanged *hs_exchanged_of(struct hs_line_table *lines, const struct hs_role *role);

/* The outermost level whose groups cut through a cell of some line, or have unequal numbers of cells; -1: none. */
int hs_line_cut(const struct hs_line_table *lines, int axis, const struct hs_factors *members);
/*
 * The cells that the levels on an axis run over, and *over, the levels of them.  Without cells (the argument; those of
 * the table; a level that cuts): NULL, and the levels of the members.
 */
const struct hs_cells *hs_line_cells(const struct hs_line_table *lines, int cells, int axis,
                                     const struct hs_factors *members, struct hs_factors *over);

#endif
