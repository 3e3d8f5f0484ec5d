/* What the parts of node.h know in common: where the tiles of a step lie, and who has what of them. */
#ifndef HS_SUMMA_NODE_SHAPE_H
#define HS_SUMMA_NODE_SHAPE_H

#include "summa/node/node.h"

/* A range of one dimension, in local indices of who multiplies it. */
struct hs_range {
    int64_t begin, length;
};

/* A process's coordinate on an axis: one that has all is number 0. */
static inline int hs_coord_on(const struct hs_axis *axis, int coord)
{
    return axis->nprocs == 1 ? 0 : coord;
}

/* The line of a supply on which the process at `coord` multiplies. */
static inline int hs_supply_line(const struct hs_supply *supply, const int coord[2])
{
    return hs_coord_on(supply->role->want, coord[supply->role->want_axis]);
}

static inline int64_t hs_panel_of(const struct hs_node_product *node, int64_t step)
{
    return step / node->chunks;
}
static inline int64_t hs_chunk_of(const struct hs_node_product *node, int64_t step)
{
    return step % node->chunks;
}
/* Indices of the looped dimension in a panel; they follow each other. */
struct hs_range hs_node_panel(const struct hs_node_product *node, int64_t panel);

/* The part of a tile's pinned dimension that line p reads in a step: all of it, or a chunk. */
struct hs_range hs_supply_part(const struct hs_node_product *node, const struct hs_supply *supply, int p, int64_t step);

/* The coordinate of the process that has all of a panel in one piece of its matrix, and where; -1: there is none. */
int hs_supply_owner(const struct hs_node_product *node, const struct hs_supply *supply, int64_t panel, int64_t *local);

/* The former alone. */
static inline int hs_panel_owner(const struct hs_node_product *node, const struct hs_supply *supply, int64_t panel)
{
    int64_t local;
    return hs_supply_owner(node, supply, panel, &local);
}
/* Whether this process is the owner of a panel, and so reads its own matrix. */
static inline int hs_owner_is_here(const struct hs_node_product *node, const struct hs_supply *supply, int owner)
{
    return owner >= 0 && owner == hs_coord_on(supply->role->looped, node->problem->grid.coord[supply->role->loop_axis]);
}

/* Whether each process has what it reads of a supply: nothing is ever copied. */
int hs_supply_resident(const struct hs_role *role);

/* Whether a step has a new tile: several chunks of one operand use the same one of the other. */
int hs_supply_begins(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
/* Steps that must have been multiplied everywhere before the tile of a step may be written. */
int64_t hs_supply_free_after(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step);

/* Part p of the tile of a step in shared memory. */
char *hs_supply_slot(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step, int p);

/* fill_and_sum.c: this process's part of the tile of a step, to all lines that it gives to; the bytes. */
int64_t hs_node_fill(struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
/* C = beta C + the partial results of a panel, for what this process owns of C. */
void hs_node_sum(struct hs_node_product *node, int64_t panel);

#endif
