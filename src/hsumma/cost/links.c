#include "hsumma/cost/links.h"

#include <string.h>

/* Finds the positions of the cells of a line.  seen[node]: the number, plus 1, of the last line on which the node was
 * seen. */
static int find_places(const struct hs_line_table *lines, int axis, int number, int *seen, int *position)
{
    int count = 0;
    for (int m = 0; m < lines->grid->extent[axis]; m++) {
        int node = hs_node_on_line(lines->topology, lines->grid, axis, number, m);
        if (seen[node] == number + 1)
            continue;
        seen[node] = number + 1;
        position[count++] = hs_fabric_at(lines->topology->fabric, node);
    }
    return count;
}

/* The walks along all lines of an axis, which are found once (hs_line_table.walks); NULL if there is no memory. */
static const int *walks_of(const struct hs_line_table *lines, int axis, int in_fabric,
                           const struct hs_allocator *memory)
{
    const struct hs_topology *topology = lines->topology;
    int **walks = &lines->walks[2 * in_fabric + axis];
    size_t size = (size_t)lines->grid->extent[axis], all = (size_t)lines->grid->extent[1 - axis];
    size_t nodes = (size_t)topology->division[HS_NODE].parts;
    if (*walks)
        return *walks;
    int *made = hs_get(memory, all + all * size, sizeof *made);
    int *room = hs_get_zero(memory, nodes + 3 * size, sizeof *room);
    for (size_t number = 0; made && room && number < all; number++) {
        int *position = made + all + number * size, *order = room + nodes, *found = order + size;
        int count = made[number] = find_places(lines, axis, (int)number, room, position);
        if (!in_fabric)
            continue;
        memcpy(found, position, (size_t)count * sizeof *found);
        hs_fabric_order(topology->fabric, found, count, hs_line_in_fabric(topology, lines->grid, axis, (int)number),
                        order, found + size);
        for (int c = 0; c < count; c++)
            position[c] = found[order[c]];
    }
    if (room)
        *walks = made;
    else
        hs_put(memory, made);
    hs_put(memory, room);
    return *walks;
}

/* Adds the flows of all busy groups of a line: those whose roots have digit `root` on this level and 0 inside it. */
static void add_line(const struct hs_fabric *fabric, const int *position, int count, int stride, int size, int root,
                     double weight, const struct hs_rank_flow *flow, int flows, double *load)
{
    for (int base = 0; base + (size - 1) * stride < count; base += size * stride)
        for (int f = 0; f < flows; f++) {
            int from = base + (flow[f].from + root) % size * stride, to = base + (flow[f].to + root) % size * stride;
            if (position[from] != position[to])
                hs_fabric_route(fabric, position[from], position[to], weight * (double)flow[f].bytes, load);
        }
}

hsumma_status hs_link_loads(const struct hs_line_table *lines, const struct hs_line *line, int in_fabric,
                            const struct hs_rank_flow *flow, int flows, const struct hs_allocator *memory,
                            double most[HS_LOAD_ROOTS])
{
    const struct hs_fabric *fabric = lines->topology->fabric;
    int links = hs_fabric_links(fabric), size = lines->grid->extent[line->axis];
    int all = lines->grid->extent[1 - line->axis];
    const int *walks = walks_of(lines, line->axis, in_fabric, memory);
    double *load = walks ? hs_get_zero(memory, (size_t)links, sizeof *load) : NULL;
    for (int root = 0; load && root < HS_LOAD_ROOTS; root++) { /* load: of this root and those before it */
        for (int number = 0; number < all; number++)
            add_line(fabric, walks + all + (size_t)number * (size_t)size, walks[number], line->group.stride,
                     line->group.size, root, hs_line_weight(line, number), flow, flows, load);
        most[root] = 0;
        for (int i = 0; i < links; i++)
            most[root] = load[i] > most[root] ? load[i] : most[root];
        most[root] /= root + 1;
    }
    hs_put(memory, load);
    return load ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}
