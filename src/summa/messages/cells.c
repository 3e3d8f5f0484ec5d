#include "summa/messages/cells.h"

#include <string.h>

hsumma_status hs_group_topology(const struct hs_group *group, int first, const struct hs_topology *of,
                                const struct hs_allocator *memory, struct hs_topology *topology)
{
    int size = group->size, *node = hs_get(memory, (size_t)size, 2 * sizeof *node);
    if (!node)
        return HSUMMA_ERR_MEMORY;
    for (int i = 0; i < size; i++) {
        int rank = hs_group_rank(group, (i + first) % size);
        node[i] = hs_part_of(&of->division[HS_NODE], rank);
        node[size + i] = hs_part_of(&of->division[HS_SOCKET], rank);
    }
    hsumma_status status = hs_topology_make(topology, size, node, node + size, memory);
    hs_put(memory, node);
    return status;
}

/* Adds a line to the counts (hs_cells.all) if several of its members are on `node`. */
static void count_line(const struct hs_topology *topology, const struct hs_grid *grid, int axis, int line, int node,
                       int count[2])
{
    int members = 0;
    for (int m = 0; m < grid->extent[axis]; m++)
        members += hs_node_on_line(topology, grid, axis, line, m) == node;
    count[0] += members > 1;
    count[1] += members > 1 ? members : 0;
}

struct hs_fabric_line hs_line_in_fabric(const struct hs_topology *topology, const struct hs_grid *grid, int axis,
                                        int line)
{
    struct hs_fabric_line is = {line, 0, 0};
    int node = hs_node_on_line(topology, grid, axis, line, 0);
    for (int other = 0; other < grid->extent[1 - axis]; other++) {
        int same = hs_node_on_line(topology, grid, axis, other, 0) == node;
        is.beside += same;
        is.place += same && other < line;
    }
    return is;
}

/* Numbers the cells in the order of their nodes in the fabric, and finds their box.  node[m]: node of member m. */
static hsumma_status order_in_fabric(struct hs_topology *line, struct hs_fabric_line number,
                                     const struct hs_fabric *fabric, const int *node, struct hs_box *box,
                                     const struct hs_allocator *memory)
{
    const struct hs_division *division = &line->division[HS_NODE];
    int count = division->parts, *position = hs_get(memory, (size_t)count, 3 * sizeof *position);
    if (!position)
        return HSUMMA_ERR_MEMORY;
    for (int c = 0; c < count; c++)
        position[c] = hs_fabric_at(fabric, node[hs_part_rank(division, c, 0)]);
    int *order = position + count, *walk = order + count; /* walk: scratch until it has the ordered positions */
    hs_fabric_order(fabric, position, count, number, order, walk);
    for (int c = 0; c < count; c++)
        walk[c] = position[order[c]];
    hs_box_find(fabric, walk, count, box);
    hsumma_status status = hs_topology_renumber(line, order, memory);
    hs_put(memory, position);
    return status;
}

/* Makes the topology of a line.  box: NULL to number its cells in the order of their first members; otherwise they are
 * numbered in the order of the fabric, if it is known, and *box, which must be empty, gets their box without shares. */
static hsumma_status topology_of_line(const struct hs_topology *topology, const struct hs_grid *grid, int axis,
                                      int line, struct hs_box *box, const struct hs_allocator *memory,
                                      struct hs_topology *made)
{
    int size = grid->extent[axis], *of = hs_get(memory, (size_t)size, sizeof *of);
    for (int m = 0; of && m < size; m++)
        of[m] = hs_node_on_line(topology, grid, axis, line, m);
    hsumma_status status = of ? hs_topology_make(made, size, of, NULL, memory) : HSUMMA_ERR_MEMORY;
    if (!status && box && topology->fabric)
        status =
            order_in_fabric(made, hs_line_in_fabric(topology, grid, axis, line), topology->fabric, of, box, memory);
    hs_put(memory, of);
    return status;
}

hsumma_status hs_shares_in_fabric(const struct hs_topology *topology, const struct hs_grid *grid,
                                  const struct hs_allocator *memory, int share[2][HS_FABRIC_DIMS])
{
    struct hs_box box[2] = {{.dims = 0}, {.dims = 0}};
    hsumma_status status = HSUMMA_OK;
    for (int axis = 0; !status && axis < 2; axis++) {
        struct hs_topology line = {.size = 0};
        status = topology_of_line(topology, grid, axis, 0, &box[axis], memory, &line);
        hs_topology_free(&line, memory);
    }
    hs_box_share(topology->fabric, box, share);
    return status;
}

hsumma_status hs_cells_make(struct hs_cells *cells, const struct hs_grid *grid, int axis, int in_fabric,
                            const struct hs_topology *topology, const struct hs_allocator *memory)
{
    int size = grid->extent[axis], line = grid->coord[1 - axis];
    memset(cells, 0, sizeof *cells);
    hsumma_status status =
        topology_of_line(topology, grid, axis, line, in_fabric ? &cells->box : NULL, memory, &cells->line);
    if (!status && cells->box.dims) {
        int share[2][HS_FABRIC_DIMS];
        status = hs_shares_in_fabric(topology, grid, memory, share);
        hs_box_take_shares(&cells->box, share[axis]);
    }
    if (status) {
        hs_cells_free(cells, memory);
        return status;
    }
    const struct hs_division *division = cells->division = &cells->line.division[HS_NODE];
    cells->me = hs_part_of(division, grid->coord[axis]);
    cells->members = hs_division_size(division, cells->me);
    cells->carriers = hs_division_largest(division);
    cells->carrier =
        hs_get(memory, (size_t)cells->carriers * (size_t)division->parts + (size_t)size, sizeof *cells->carrier);
    if (!cells->carrier) {
        hs_cells_free(cells, memory);
        return HSUMMA_ERR_MEMORY;
    }
    cells->mate = cells->carrier + (size_t)cells->carriers * (size_t)division->parts;
    for (int i = 0; i < cells->carriers; i++)
        for (int c = 0; c < division->parts; c++) {
            int member = hs_part_rank(division, c, i % hs_division_size(division, c));
            cells->carrier[i * division->parts + c] = hs_grid_index(grid, axis, member, line);
        }
    for (int i = 0; i < cells->members; i++)
        cells->mate[i] =
            hs_place_in_part(&topology->division[HS_NODE],
                             hs_grid_rank(grid, hs_grid_index(grid, axis, hs_part_rank(division, cells->me, i), line)));
    int node = hs_node_on_line(topology, grid, axis, line, grid->coord[axis]);
    for (int other = 0; other < grid->extent[1 - axis]; other++) {
        if (other == line)
            memcpy(cells->before, cells->all, sizeof cells->before);
        count_line(topology, grid, axis, other, node, cells->all);
    }
    return HSUMMA_OK;
}

void hs_cells_free(struct hs_cells *cells, const struct hs_allocator *memory)
{
    hs_topology_free(&cells->line, memory);
    hs_put(memory, cells->carrier);
    memset(cells, 0, sizeof *cells);
}

int hs_cells_factors(const struct hs_division *division, const struct hs_factors *members, struct hs_factors *over)
{
    int kept = 0, inner = -1, cell = hs_division_size(division, 0), left = division->parts, size[HS_LEVELS_MAX];
    *over = *members;
    for (int l = 0; l < members->levels; l++) {
        kept += members->size[l] > 1;
        inner = members->size[l] > 1 ? l : inner;
    }
    if (kept > 1 && !(division->even && division->contiguous))
        return 0;
    for (int l = 0; l < members->levels; l++) {
        if (l < inner && members->size[l] > 1 && members->stride[l] % cell)
            return 0;
        size[l] = l == inner ? left : members->size[l];
        left /= size[l];
    }
    return hs_factors_make(over, division->parts, members->levels - 1, size);
}

int hs_cells_all_signalled(const struct hs_cells *cells, const struct hs_node_execution *execution, int counter,
                           int64_t steps)
{
    for (int i = 0; i < cells->members; i++)
        if (!hs_cells_signalled(cells, execution, i, counter, steps))
            return 0;
    return 1;
}
