/* Functions shared by the files that implement node.h: the addresses of a step's tiles, and the owners of their parts.
 */
#ifndef HS_SUMMA_NODE_SHAPE_H
#define HS_SUMMA_NODE_SHAPE_H

#include "summa/node/node.h"

/* A range of one dimension: global indices of the looped dimension, or local indices of a pinned dimension. */
struct hs_range {
    int64_t begin, length;
};

/* A process's coordinate on an axis; 0 if every process has all indices. */
static inline int hs_coord_on(const struct hs_axis *axis, int coord)
{
    return axis->nprocs == 1 ? 0 : coord;
}

/* The line of a supply to which the process at `coord` belongs as a reader. */
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
/* The indices of the looped dimension in a panel. */
struct hs_range hs_node_panel(const struct hs_node_product *node, int64_t panel);

/* The part of a tile's pinned dimension that line p reads in a step: the whole extent, or a chunk. */
struct hs_range hs_supply_part(const struct hs_node_product *node, const struct hs_supply *supply, int p, int64_t step);

/* The process whose matrix contains a whole panel in consecutive local indices, as a coordinate on the grid axis of the
 * looped dimension.  Sets *local to the first of these indices.  Returns -1 if there is no such process or the operand
 * is exchanged. */
int hs_supply_owner(const struct hs_node_product *node, const struct hs_supply *supply, int64_t panel, int64_t *local);

/* hs_supply_owner without the local index. */
static inline int hs_panel_owner(const struct hs_node_product *node, const struct hs_supply *supply, int64_t panel)
{
    int64_t local;
    return hs_supply_owner(node, supply, panel, &local);
}
/* Whether this process is the owner of a panel (hs_supply_owner), and so reads its own matrix. */
static inline int hs_owner_is_here(const struct hs_node_product *node, const struct hs_supply *supply, int owner)
{
    return owner >= 0 && owner == hs_coord_on(supply->role->looped, node->problem->grid.coord[supply->role->loop_axis]);
}

/* Whether this process reads its own matrix in a panel of that owner (hs_panel_owner). */
static inline int hs_reads_own(const struct hs_node_product *node, const struct hs_supply *supply, int owner)
{
    return node->even.own[supply->operand] || hs_owner_is_here(node, supply, owner);
}
/* Whether peer i has a part of a panel of that owner. */
static inline int hs_peer_has(const struct hs_peers *peers, int i, int owner)
{
    return owner < 0 || owner == peers->coord[i];
}

/* Whether every process owns all data that it reads of an operand, so that nothing is copied. */
int hs_supply_resident(const struct hs_role *role);
/* Whether that holds for all operands, so that no process reads another's data. */
int hs_variant_resident(const struct hs_variant *variant);

/* Whether a step begins a new tile of a supply.  An operand that is not cut into chunks has one tile for all chunks of
 * a panel. */
int hs_supply_begins(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
/* Number of steps that all readers must have multiplied (for C: whose partial results must have been added up) before
 * the tile of a step may be written. */
int64_t hs_supply_free_after(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step);

/* Address of part p of a step's tile, in shared memory or device memory. */
char *hs_supply_slot(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step, int p);

/* The CRCs (summa/shared_crc.h) of part p of a step's tile, by index in the grid: of what each process fills, or for C
 * adds up. */
static inline uint32_t *hs_supply_crcs(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step,
                                       int p)
{
    return (uint32_t *)(void *)(hs_supply_slot(node, supply, step, p) + supply->crcs);
}

/* Whether the process at `coord` multiplies anything; if not, it reads nothing and makes no partial result. */
int hs_node_multiplies(const struct hs_node_product *node, const int coord[2]);

/*
 * A run is a sequence of indices that are consecutive both on process p of axis x, from local index `from` on, and on
 * process q of axis y, from local index `to` on.  If y is NULL, they are consecutive in the whole dimension, and `to`
 * counts from the first index of the walk over all runs.
 */
struct hs_index_run {
    int64_t from, to, length;
};
struct hs_runs {
    struct hs_overlap walk;
    int64_t first;
    int pending; /* 1 if `next` is valid */
    struct hs_index_run next;
};

/* A walk over the blocks of C that one process owns and another has computed, by columns: the rows and columns of a
 * block in the owner's matrix (from) and in the other's tile (to). */
struct hs_owned_blocks {
    /* all_rows: the rows at the start of a run of columns; rows: the rest of them for the current run.  The caller sets
     * columns and all_rows. */
    struct hs_runs columns, rows, all_rows;
    struct hs_index_run col, row; /* the current block */
};

/* Implemented in fill_and_sum.c. */
struct hs_runs hs_runs_begin(const struct hs_axis *x, int p, const struct hs_axis *y, int q, int64_t begin,
                             int64_t end);
int hs_owned_next(struct hs_owned_blocks *blocks);
/* C = beta C + the tile, for the current block. */
void hs_owned_add(struct hs_node_product *node, const struct hs_owned_blocks *blocks, const void *beta,
                  const struct hs_matrix *tile);
/* The CRC of all blocks in the tile. */
uint32_t hs_owned_crc(struct hs_owned_blocks *blocks, const struct hs_matrix *tile, size_t size);

/* Implemented in even.c, for products with an even division.  Whether the process at `coord` owns all that its part of
 * the product needs of operand x, in consecutive local indices. */
int hs_even_owns(const struct hs_node_product *node, int x, const int coord[2]);
/* Adds the ranks that compute elements of this process's part of C to node->even.makers. */
void hs_even_meet(struct hs_node_product *node, const struct hs_mates *mates);
/* Sets *at to the address of operand x in a step's local product; returns 0 if it is in a tile of A or B. */
int hs_even_locate(const struct hs_node_product *node, int x, const struct hs_range range[3], struct hs_matrix *at);
/* Computes C = beta C + the makers' parts, for this process's part of C; returns the bytes read. */
int64_t hs_even_collect(struct hs_node_product *node);
/* Takes the CRCs of what this process has computed of others' parts of C; compares those of its own part. */
void hs_even_take_crcs(struct hs_node_product *node);
void hs_even_check_crcs(struct hs_node_product *node);

/* Implemented in fill_and_sum.c.  Copies this process's part of a step's tile, for all lines that read it; returns the
 * bytes copied. */
int64_t hs_node_fill(struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
/* Takes the CRCs of what hs_node_fill has copied; compares the CRCs of what this process reads of a step's tile. */
void hs_node_take_crcs(struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
void hs_node_check_crcs(struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
/* Takes the CRCs of this process's partial result of a panel; compares those of the parts that it adds up. */
void hs_node_take_crcs_of_sum(struct hs_node_product *node, int64_t panel);
void hs_node_check_crcs_of_sum(struct hs_node_product *node, int64_t panel);
/* Loads this process's part of the step's panel from host memory (hs_node_device.host). */
void hs_node_load(struct hs_node_product *node, const struct hs_supply *supply, int64_t step);
/* Computes C = beta C + the partial results of a panel, for this process's part of C. */
void hs_node_sum(struct hs_node_product *node, int64_t panel);

#endif
