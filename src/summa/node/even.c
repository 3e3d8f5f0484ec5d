/* The even division of a product inside one node: where its processes find their operands, and how the owners of C
 * collect it. */
#include "summa/node/shape.h"

/* Whether a process owns the indices [begin, begin + length) of an axis, in consecutive local indices. */
static int has(const struct hs_axis *axis, int proc, int64_t begin, int64_t length)
{
    return axis->nprocs == 1 ||
           (hs_axis_owner(axis, begin) == proc && hs_axis_block_end(axis, begin) >= begin + length);
}

/* The indices of a pinned dimension in the part of the process at `coord`. */
static struct hs_range part_of(const struct hs_node_product *node, int dim, const int coord[2])
{
    const struct hs_axis *axis = node->variant.axis[dim];
    int p = hs_coord_on(axis, coord[node->variant.axis_of[dim]]);
    int64_t length = hs_axis_count(axis, p);
    return (struct hs_range){length > 0 ? hs_axis_global(axis, p, 0) : 0, length};
}

int hs_even_owns(const struct hs_node_product *node, int x, const int coord[2])
{
    const struct hs_view *view = &node->problem->view[x];
    const int *extent = node->problem->grid.extent;
    for (int logical = 0; logical < 2; logical++) {
        int dim = hs_operand_dims[x][logical], stored = hs_view_stored(view, logical);
        if (x == HS_C && view->axis[stored].nprocs != extent[stored]) /* the other replicas need the part, too */
            return 0;
        struct hs_range range =
            dim == node->variant.looped ? (struct hs_range){0, view->axis[stored].n} : part_of(node, dim, coord);
        if (range.length > 0 && !has(&view->axis[stored], coord[stored], range.begin, range.length))
            return 0;
    }
    return 1;
}

/* The blocks of C that the process at `owner` owns and the process at `coord` computes. */
static struct hs_owned_blocks blocks_of(const struct hs_node_product *node, const int coord[2], const int owner[2])
{
    struct hs_runs runs[2];
    for (int axis = 0; axis < 2; axis++) {
        const struct hs_axis *own = &node->problem->view[HS_C].axis[axis];
        struct hs_range range = part_of(node, hs_operand_dims[HS_C][axis], coord);
        runs[axis] =
            hs_runs_begin(own, hs_coord_on(own, owner[axis]), NULL, 0, range.begin, range.begin + range.length);
    }
    return (struct hs_owned_blocks){.columns = runs[1], .all_rows = runs[0]};
}

void hs_even_meet(struct hs_node_product *node, const struct hs_mates *mates)
{
    const struct hs_grid *grid = &node->problem->grid;
    struct hs_peers *makers = &node->even.makers;
    for (int x = 0; x < 3; x++)
        node->even.own[x] = hs_even_owns(node, x, grid->coord);
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        int coord[2];
        hs_grid_coordinates(grid, i, coord);
        struct hs_owned_blocks blocks = blocks_of(node, coord, grid->coord);
        if (hs_node_multiplies(node, coord) && !hs_even_owns(node, HS_C, coord) && hs_owned_next(&blocks)) {
            makers->rank[makers->count] = hs_mate_index(mates, hs_grid_rank(grid, i));
            makers->place[makers->count++] = i;
        }
    }
}

static struct hs_matrix tile_of(const struct hs_node_product *node, const int coord[2])
{
    int index = hs_grid_index(&node->problem->grid, 0, coord[0], coord[1]);
    return (struct hs_matrix){node->tiles + node->even.at + (size_t)(index * node->even.pitch), node->even.ld};
}

int hs_even_locate(const struct hs_node_product *node, int x, const struct hs_range range[3], struct hs_matrix *at)
{
    const struct hs_view *view = &node->problem->view[x];
    const int *coord = node->problem->grid.coord;
    int own = node->even.own[x];
    int64_t index[2];
    if (x != HS_C && !own)
        return 0;
    for (int logical = 0; logical < 2; logical++) {
        int dim = hs_operand_dims[x][logical], stored = hs_view_stored(view, logical);
        int64_t first = dim == node->variant.looped ? 0 : part_of(node, dim, coord).begin;
        index[stored] =
            own ? hs_axis_before(&view->axis[stored], coord[stored], first + range[dim].begin) : range[dim].begin;
    }
    *at = own ? node->matrix[x] : tile_of(node, coord);
    at->base += (size_t)(index[0] + index[1] * at->ld) * node->problem->scalar->size;
    return 1;
}

/* Collects the part of C that the process at `coord` has computed. */
static int64_t collect_from(struct hs_node_product *node, const int coord[2])
{
    const struct hs_matrix tile = tile_of(node, coord);
    struct hs_owned_blocks blocks = blocks_of(node, coord, node->problem->grid.coord);
    int64_t elements = 0;
    while (hs_owned_next(&blocks)) {
        hs_owned_add(node, &blocks, &node->beta, &tile);
        elements += blocks.row.length * blocks.col.length;
    }
    return elements * (int64_t)node->problem->scalar->size;
}

int64_t hs_even_collect(struct hs_node_product *node)
{
    int64_t bytes = 0;
    int coord[2];
    for (int i = 0; i < node->even.makers.count; i++) {
        hs_grid_coordinates(&node->problem->grid, node->even.makers.place[i], coord);
        bytes += collect_from(node, coord);
    }
    return bytes;
}

/* The CRC of what the process at `coord` has computed for the one at `owner`. */
static uint32_t crc_of(const struct hs_node_product *node, const int coord[2], const int owner[2])
{
    const struct hs_matrix tile = tile_of(node, coord);
    struct hs_owned_blocks blocks = blocks_of(node, coord, owner);
    return hs_owned_crc(&blocks, &tile, node->problem->scalar->size);
}

static uint32_t *crcs_of(const struct hs_node_product *node, const int coord[2])
{
    return (uint32_t *)(void *)(tile_of(node, coord).base + node->even.crcs);
}

void hs_even_take_crcs(struct hs_node_product *node)
{
    const struct hs_grid *grid = &node->problem->grid;
    int owner[2];
    if (node->even.own[HS_C] || !hs_node_multiplies(node, grid->coord))
        return;
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        hs_grid_coordinates(grid, i, owner);
        crcs_of(node, grid->coord)[i] = crc_of(node, grid->coord, owner);
    }
}

void hs_even_check_crcs(struct hs_node_product *node)
{
    const struct hs_grid *grid = &node->problem->grid;
    int coord[2];
    for (int i = 0; i < node->even.makers.count; i++) {
        const int place = node->even.makers.place[i];
        hs_grid_coordinates(grid, place, coord);
        hs_shared_crc_compare(node->checks, HS_C, hs_grid_rank(grid, place), crc_of(node, coord, grid->coord),
                              crcs_of(node, coord)[hs_grid_me(grid)]);
    }
}
