/* The even division of a product inside one node: where its processes find their operands, and how the owners of C
 * collect it. */
#include "dist/overlap.h"
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

/* Walks over the indices of a dimension that this process owns of C and the process at `coord` computes. */
static struct hs_overlap shared_with(const struct hs_node_product *node, int axis, const int coord[2])
{
    const struct hs_axis *own = &node->problem->view[HS_C].axis[axis];
    struct hs_range range = part_of(node, hs_operand_dims[HS_C][axis], coord);
    return hs_overlap_begin(own, hs_coord_on(own, node->problem->grid.coord[axis]), NULL, 0, range.begin,
                            range.begin + range.length);
}

void hs_even_meet(struct hs_node_product *node, const struct hs_mates *mates)
{
    const struct hs_grid *grid = &node->problem->grid;
    struct hs_peers *makers = &node->even.makers;
    for (int x = 0; x < 3; x++)
        node->even.own[x] = hs_even_owns(node, x, grid->coord);
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        const int coord[2] = {i / grid->extent[1], i % grid->extent[1]};
        int shares = hs_node_multiplies(node, coord) && !hs_even_owns(node, HS_C, coord);
        for (int axis = 0; axis < 2 && shares; axis++) {
            struct hs_overlap walk = shared_with(node, axis, coord);
            int64_t begin, length;
            shares = hs_overlap_next(&walk, INT64_MAX, &begin, &length);
        }
        if (shares)
            makers->rank[makers->count++] = hs_mate_index(mates, hs_grid_rank(grid, i));
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
    const struct hs_scalar *scalar = node->problem->scalar;
    const struct hs_view *view = &node->problem->view[HS_C];
    const int *me = node->problem->grid.coord;
    const struct hs_matrix *c = &node->matrix[HS_C], tile = tile_of(node, coord);
    int64_t first[2], j, cols, bytes = 0;
    for (int axis = 0; axis < 2; axis++)
        first[axis] = part_of(node, hs_operand_dims[HS_C][axis], coord).begin;
    struct hs_overlap outer = shared_with(node, 1, coord);
    while (hs_overlap_next(&outer, INT64_MAX, &j, &cols)) {
        struct hs_overlap inner = shared_with(node, 0, coord);
        int64_t i, rows;
        while (hs_overlap_next(&inner, INT64_MAX, &i, &rows)) {
            int64_t to = hs_axis_before(&view->axis[0], me[0], i) + hs_axis_before(&view->axis[1], me[1], j) * c->ld;
            int64_t from = i - first[0] + (j - first[1]) * tile.ld;
            hs_update(scalar, rows, cols, &node->beta, c->base + (size_t)to * scalar->size, c->ld,
                      tile.base + (size_t)from * scalar->size, tile.ld);
            bytes += rows * cols * (int64_t)scalar->size;
        }
    }
    return bytes;
}

int64_t hs_even_collect(struct hs_node_product *node)
{
    const int *extent = node->problem->grid.extent;
    int64_t bytes = 0;
    for (int i = 0; i < extent[0] * extent[1]; i++) {
        const int coord[2] = {i / extent[1], i % extent[1]};
        if (hs_node_multiplies(node, coord) && !hs_even_owns(node, HS_C, coord))
            bytes += collect_from(node, coord);
    }
    return bytes;
}
