#include "hsumma/cost/links.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

/* Number of owners whose roots are examined.  If there are many lines, one owner represents all. */
static int owners_looked_at(int lines)
{
    return lines > 16 ? 1 : 4;
}

/* Upper bound on the number of roots that are stored for one operand. */
static int longest_roots(const struct hs_grid *grid)
{
    int longest = grid->extent[grid->extent[1] > grid->extent[0]];
    return longest > 4 * 16 ? longest : 4 * 16;
}

hsumma_status hs_line_table_init(struct hs_line_table *lines, const struct hs_topology *topology, int one_node,
                                 const struct hs_grid *grid, const struct hs_allocator *memory)
{
    const struct hs_division *node = topology ? &topology->division[HS_NODE] : NULL;
    *lines = (struct hs_line_table){.grid = grid,
                                    .topology = node && node->parts > 1 ? topology : NULL,
                                    .one_node = node ? node->parts == 1 : one_node,
                                    .weighed_axis = -1};
    if (!lines->topology)
        return HSUMMA_OK;
    if (topology->fabric)
        lines->placement = hs_placement_hash((uint64_t)grid->extent[0], topology, grid);
    const int processes = grid->extent[0] * grid->extent[1];
    lines->node = hs_get(memory, (size_t)processes, sizeof *lines->node);
    lines->weight = hs_get(memory, (size_t)grid->extent[grid->extent[1] > grid->extent[0]], sizeof *lines->weight);
    lines->flow = hs_get(memory, (size_t)node->parts, 2 * sizeof *lines->flow);
    lines->roots = hs_get(memory, HS_EXCHANGED * (size_t)longest_roots(grid), sizeof *lines->roots);
    if (topology->fabric)
        lines->links = hs_get_zero(memory, 1, sizeof *lines->links);
    for (int i = 0; i < processes && lines->node; i++)
        lines->node[i] = hs_part_of(node, hs_grid_rank(grid, i));
    const int all = lines->node && lines->weight && lines->flow && lines->roots && (lines->links || !topology->fabric);
    return all ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

uint64_t hs_placement_hash(uint64_t hash, const struct hs_topology *topology, const struct hs_grid *grid)
{
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        int node = hs_part_of(&topology->division[HS_NODE], hs_grid_rank(grid, i));
        hash = hs_mix(hash, (uint64_t)(topology->fabric ? hs_fabric_at(topology->fabric, node) : node));
    }
    return hash;
}

void hs_line_table_free(struct hs_line_table *lines, const struct hs_allocator *memory)
{
    for (int axis = 0; axis < 2; axis++) {
        hs_cells_free(&lines->cells[axis].most, memory);
        hs_put(memory, lines->cells[axis].nodes);
    }
    hs_link_table_free(lines->links, memory);
    hs_put(memory, lines->node);
    hs_put(memory, lines->weight);
    hs_put(memory, lines->flow);
    hs_put(memory, lines->roots);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

/* The cells of one line. */
struct line_shape {
    int cells;
    int first;    /* the first member of the largest cell */
    int together; /* number of members of each cell, if all cells are contiguous and equally large; else 0 */
};

/* The lines of an axis on one node. */
struct node_share {
    int members;    /* number of members of the current line on the node */
    int lines, all; /* number of lines with several members on the node; number of all their members there */
};

static struct line_shape shape_of(const struct hs_line_table *lines, int axis, int line, struct node_share *share,
                                  struct hs_line_cells *cells)
{
    struct line_shape shape = {0, 0, 0};
    int size = lines->grid->extent[axis], blocks = 0, largest = 0, smallest = size;
    int *walk = cells->nodes + lines->grid->extent[1 - axis] + (size_t)line * (size_t)size;
    for (int m = 0; m < size; m++) {
        int node = hs_line_node(lines, axis, line, m);
        if (share[node].members++ == 0)
            walk[shape.cells++] = node;
        blocks += m == 0 || hs_line_node(lines, axis, line, m - 1) != node;
    }
    for (int m = 0; m < size; m++) {
        struct node_share *here = &share[hs_line_node(lines, axis, line, m)];
        int members = here->members;
        here->members = 0;
        if (members == 0) /* this cell was counted with its first member */
            continue;
        smallest = members < smallest ? members : smallest;
        shape.first = members > largest ? m : shape.first;
        largest = members > largest ? members : largest;
        if (members > 1) {
            here->lines++;
            here->all += members;
            if (cells->least_of_several == 0 || members < cells->least_of_several)
                cells->least_of_several = members;
        }
    }
    cells->least = smallest < cells->least ? smallest : cells->least;
    shape.together = smallest == largest && blocks == shape.cells ? smallest : 0;
    cells->nodes[line] = shape.cells;
    return shape;
}

/* The least common multiple of a and b, or most + 1 if it exceeds `most`. */
static int common_multiple(int a, int b, int most)
{
    int x = a, y = b;
    while (y) {
        int rest = x % y;
        x = y;
        y = rest;
    }
    int64_t multiple = (int64_t)(a / x) * b;
    return multiple > most ? most + 1 : (int)multiple;
}

/* Finds the cells of all lines along an axis.  share: one entry per node, zeroed. */
static hsumma_status look_at_cells(const struct hs_line_table *lines, int axis, struct node_share *share,
                                   struct hs_line_cells *cells, const struct hs_allocator *memory)
{
    int size = lines->grid->extent[axis], others = lines->grid->extent[1 - axis], most = 0;
    struct hs_grid grid = *lines->grid;
    *cells = (struct hs_line_cells){.together = 1, .alike = 1, .least = size};
    cells->nodes = hs_get(memory, (size_t)others + (size_t)others * (size_t)size, sizeof *cells->nodes);
    if (!cells->nodes)
        return HSUMMA_ERR_MEMORY;
    for (int line = 0; line < others; line++) {
        struct line_shape shape = shape_of(lines, axis, line, share, cells);
        if (shape.together == 0)
            cells->together = 0;
        cells->alike &= shape.together > 0 && shape.cells == cells->nodes[0];
        if (cells->together > 0 && cells->together <= size)
            cells->together = common_multiple(cells->together, shape.together, size);
        if (shape.cells > most) {
            most = shape.cells;
            grid.coord[axis] = shape.first;
            grid.coord[1 - axis] = line;
        }
    }
    for (int node = 0; node < lines->topology->division[HS_NODE].parts; node++) {
        cells->lines = share[node].lines > cells->lines ? share[node].lines : cells->lines;
        cells->members = share[node].all > cells->members ? share[node].all : cells->members;
    }
    return hs_cells_make(&cells->most, &grid, axis, 0, lines->topology, memory);
}

hsumma_status hs_line_table_share(struct hs_line_table *lines, const struct hs_allocator *memory)
{
    hsumma_status status = HSUMMA_OK;
    if (!lines->topology)
        return HSUMMA_OK;
    lines->shares = 1;
    for (int axis = 0; axis < 2 && !status; axis++) {
        struct node_share *share = hs_get_zero(memory, (size_t)lines->topology->division[HS_NODE].parts, sizeof *share);
        status = share ? look_at_cells(lines, axis, share, &lines->cells[axis], memory) : HSUMMA_ERR_MEMORY;
        hs_put(memory, share);
    }
    if (!status && lines->links && lines->topology->fabric->kind == HS_TORUS)
        status = hs_find_boxes(lines, memory);
    return status;
}

int hs_line_cut(const struct hs_line_table *lines, int axis, const struct hs_factors *members)
{
    int together = lines->cells[axis].together, outer = -1;
    for (int l = 0; l < members->levels; l++) {
        if (members->size[l] == 1)
            continue;
        /* `outer` has another level inside it, so its groups may cut through cells */
        if (outer >= 0 && (together == 0 || members->stride[outer] % together))
            return outer;
        outer = l;
    }
    return -1;
}

const struct hs_cells *hs_line_cells(const struct hs_line_table *lines, int cells, int axis,
                                     const struct hs_factors *members, struct hs_factors *over)
{
    const struct hs_cells *most = &lines->cells[axis].most;
    if (cells && lines->shares && hs_line_cut(lines, axis, members) < 0 &&
        hs_cells_factors(most->division, members, over))
        return most;
    *over = *members;
    return NULL;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* The part (node or socket) of member i. */
static int part_of(const struct hs_division *division, const struct hs_group *group, int i)
{
    return hs_part_of(division, hs_group_rank(group, i));
}

/* The first member in the same part as member i.  before: that of member i - 1. */
static int first_mate(const struct hs_division *division, const struct hs_group *group, int i, int before)
{
    int part = part_of(division, group, i), mate = 0;
    if (i > 0 && part_of(division, group, i - 1) == part)
        return before;
    while (part_of(division, group, mate) != part)
        mate++;
    return mate;
}

double hs_line_weight(const struct hs_line *line, int number)
{
    const struct hs_axis *want = line->want;
    return want && want->nprocs > 1 ? (double)hs_axis_count(want, number) / (double)hs_axis_count_max(want) : 1;
}

/* Sets lines->weight for the lines that an operand wants along an axis. */
static void weigh(struct hs_line_table *lines, int axis, const struct hs_axis *want)
{
    const struct hs_line line = {.want = want};
    if (want == lines->weighed && axis == lines->weighed_axis)
        return;
    for (int other = 0; other < lines->grid->extent[1 - axis]; other++)
        lines->weight[other] = hs_line_weight(&line, other);
    lines->weighed = want;
    lines->weighed_axis = axis;
}

/* Sums, per node, the weights of the members of all groups that are busy if the roots have coordinate `coord`. */
static void count_busy(const struct hs_line_table *lines, int axis, int stride, int coord)
{
    const struct hs_grid *grid = lines->grid;
    const struct hs_division *node = &lines->topology->division[HS_NODE];
    memset(lines->flow, 0, (size_t)node->parts * sizeof *lines->flow);
    const int step = hs_grid_stride(grid, axis);
    for (int line = 0; line < grid->extent[1 - axis]; line++) {
        const double weight = lines->weight[line];
        const int *of = lines->node + hs_grid_index(grid, axis, 0, line);
        for (int m = coord % stride; m < grid->extent[axis]; m += stride)
            lines->flow[of[m * step]] += weight;
    }
}

/* Sets line->where, line->sharing and line->nodes. */
static void describe(const struct hs_line_table *lines, struct hs_line *line)
{
    const struct hs_division *node = &lines->topology->division[HS_NODE],
                             *socket = &lines->topology->division[HS_SOCKET];
    const struct hs_group *group = &line->group;
    line->nodes = 0;
    line->where = 3;
    line->sharing = 1;
    for (int i = 0, mate = 0, on_socket = 0; i < group->size; i++) {
        int part = part_of(node, group, i), mates = 0;
        mate = first_mate(node, group, i, mate);
        on_socket = first_mate(socket, group, i, on_socket);
        line->where = hs_mix(line->where, (uint64_t)mate);
        line->where = hs_mix(line->where, (uint64_t)on_socket);
        if (mate < i)
            continue;
        for (int j = i; j < group->size; j++)
            mates += part_of(node, group, j) == part;
        double sharing = lines->flow[part] / mates;
        line->sharing = sharing > line->sharing ? sharing : line->sharing;
        line->nodes++;
    }
}

/* The largest weight of busy cells on a node. */
static double most_busy_cells(const struct hs_line_table *lines, int axis, int stride)
{
    int nodes = lines->topology->division[HS_NODE].parts, count;
    double most = 1;
    memset(lines->flow, 0, (size_t)nodes * sizeof *lines->flow);
    for (int line = 0; line < lines->grid->extent[1 - axis]; line++) {
        const int *of = hs_line_cell_nodes(lines, axis, line, &count);
        for (int c = 0; c < count && count > 1; c += stride) /* a line of one cell sends nothing */
            lines->flow[of[c]] += lines->weight[line];
    }
    for (int node = 0; node < nodes; node++)
        most = lines->flow[node] > most ? lines->flow[node] : most;
    return most;
}

/* The line that represents a level of cells: any line would do, because all its cells are on different nodes.  alike: a
 * known line that differs in its size at most; or NULL. */
static struct hs_line look_at_cells_of_level(const struct hs_line_table *lines, int axis, int stride, int size,
                                             const struct hs_line *alike)
{
    const struct hs_grid *grid = lines->grid;
    struct hs_line line = {.axis = axis,
                           .nodes = size,
                           .cells = 1,
                           .group = {.table = grid->rank, .stride = stride, .size = size},
                           .where = 4, /* unlike members on nodes of their own, which are not slowed by other lines */
                           .sharing = alike ? alike->any_root : most_busy_cells(lines, axis, stride)};
    for (int i = 0; i < size; i++)
        line.where = hs_mix(hs_mix(line.where, (uint64_t)i), (uint64_t)i);
    line.box = size == lines->cells[axis].most.division->parts ? hs_line_boxes(lines, axis) : NULL;
    return line;
}

/* The line on the most nodes: of some, with roots of the first coordinate, and the last line with those of the last. */
static struct hs_line look_at(const struct hs_line_table *lines, int axis, int stride, int size)
{
    enum { LINES_LOOKED_AT = 8 };
    const struct hs_grid *grid = lines->grid;
    const int step = stride * hs_grid_stride(grid, axis), others = grid->extent[1 - axis];
    const int looked = others < LINES_LOOKED_AT ? others : LINES_LOOKED_AT;
    struct hs_line most = {.axis = axis,
                           .nodes = lines->one_node ? 1 : size,
                           .group = {.table = grid->rank, .stride = step, .size = size},
                           .where = (uint64_t)lines->one_node,
                           .sharing = 1},
                   line = most;
    if (!lines->topology)
        return most;
    most.nodes = 0;
    count_busy(lines, axis, stride, 0);
    for (int i = 0; i <= looked; i++) {
        line.group.base = i < looked ? hs_grid_index(grid, axis, 0, (int)((int64_t)i * others / looked))
                                     : grid->extent[0] * grid->extent[1] - 1 - (size - 1) * step;
        if (i == looked)
            count_busy(lines, axis, stride, grid->extent[axis] - 1);
        describe(lines, &line);
        most = line.nodes > most.nodes ? line : most;
    }
    return most;
}

/* Adds a line's weight to the nodes of its busy members or cells and, separately, to the nodes of its groups' roots. */
static void add_rooted(const struct hs_line_table *lines, const struct hs_line *line, int stride, int number, int root,
                       double weight)
{
    const int axis = line->axis;
    const int *of = lines->node + hs_grid_index(lines->grid, axis, 0, number);
    int step = hs_grid_stride(lines->grid, axis), count = lines->grid->extent[axis], from = root;
    if (line->cells) {
        of = hs_line_cell_nodes(lines, axis, number, &count);
        step = 1;
        for (from = 0; of[from] != hs_line_node(lines, axis, number, root);)
            from++;
    }
    double *busy = lines->flow, *rooted = busy + lines->topology->division[HS_NODE].parts;
    if (count == 1) /* a line of one cell sends nothing */
        return;
    for (int m = from % stride; m < count; m += stride)
        busy[of[m * step]] += weight;
    for (int m = from % (stride * line->group.size); m < count; m += stride * line->group.size)
        rooted[of[m * step]] += weight;
}

/* Reduces sharing and crowd of a line: lines with different roots crowd their nodes less than lines whose roots have
 * the same coordinate. */
static void spread_roots(const struct hs_line_table *lines, const struct hs_exchanged *exchanged, int stride,
                         struct hs_line *line)
{
    int nodes = lines->topology->division[HS_NODE].parts, others = lines->grid->extent[1 - line->axis];
    double busy = 0, rooted = 0;
    for (int i = 0; i < exchanged->owners; i++) {
        double most[2] = {0, 0};
        memset(lines->flow, 0, (size_t)nodes * 2 * sizeof *lines->flow);
        for (int other = 0; other < others; other++)
            add_rooted(lines, line, stride, other, exchanged->root[i * others + other], lines->weight[other]);
        for (int n = 0; n < 2 * nodes; n++)
            most[n / nodes] = lines->flow[n] > most[n / nodes] ? lines->flow[n] : most[n / nodes];
        busy += most[0] / exchanged->owners;
        rooted += most[1] / exchanged->owners;
    }
    line->sharing = busy < line->sharing ? busy : line->sharing;
    line->crowd = rooted < line->sharing ? rooted : line->sharing;
    line->sharing = line->sharing > 1 ? line->sharing : 1;
    line->crowd = line->crowd > 1 ? line->crowd : 1;
}

static double in_sixteenths(double x)
{
    return ceil(x * 16) / 16;
}

/* Whether lines that want these axes have the same weights; an axis may be NULL. */
static int weigh_alike(const struct hs_axis *x, const struct hs_axis *y)
{
    return x == y || (x && y && hs_axis_same(x, y));
}

struct hs_line hs_line_of(struct hs_line_table *lines, int cells, const struct hs_role *role, int stride, int size)
{
    int axis = role->line_axis, step = cells ? stride : stride * hs_grid_stride(lines->grid, axis);
    const struct hs_exchanged *exchanged = role->exchanged && lines->topology ? hs_exchanged_of(lines, role) : NULL;
    const struct hs_axis *own = exchanged && exchanged->owners > 0 ? role->own : NULL;
    const struct hs_line *alike = NULL;
    for (int i = 0; i < lines->known; i++) {
        const struct hs_line *line = &lines->line[i];
        if (line->axis != axis || line->cells != cells || line->group.stride != step ||
            !weigh_alike(line->want, role->want))
            continue;
        if (line->group.size == size && line->own == own)
            return *line;
        alike = line;
    }
    if (lines->topology)
        weigh(lines, axis, role->want);
    struct hs_line line =
        cells ? look_at_cells_of_level(lines, axis, stride, size, alike) : look_at(lines, axis, stride, size);
    line.any_root = line.sharing;
    line.want = role->want;
    line.own = own;
    line.crowd = line.sharing;
    if (own)
        spread_roots(lines, exchanged, stride, &line);
    line.sharing = in_sixteenths(line.sharing); /* rounded, so that the clock is evaluated for few distinct values */
    line.crowd = in_sixteenths(line.crowd);
    line.where = hs_mix(hs_mix(line.where, (uint64_t)(line.sharing * 16)), (uint64_t)(line.crowd * 16));
    if (lines->placement) {
        line.where = hs_mix(hs_mix(hs_mix(line.where, lines->placement), (uint64_t)axis), (uint64_t)stride);
        for (int other = 0; role->want && other < lines->grid->extent[1 - axis]; other++)
            line.where = hs_mix(line.where, (uint64_t)(lines->weight[other] * (1 << 20)));
    }
    if (lines->known == HS_LINES)
        lines->known = 0;
    return lines->line[lines->known++] = line;
}

struct hs_exchanged *hs_exchanged_of(struct hs_line_table *lines, const struct hs_role *role)
{
    struct hs_exchanged *exchanged = lines->exchange;
    int count = lines->grid->extent[role->want_axis], owners = role->looped->nprocs, among;
    for (; exchanged < lines->exchange + lines->exchanges; exchanged++)
        if (exchanged->own == role->own && exchanged->want == role->want)
            return exchanged;
    lines->exchanges++;
    *exchanged = (struct hs_exchanged){.own = role->own, .want = role->want};
    hs_exchange_root(role, lines->grid, lines->topology, 0, owners - 1, &exchanged->among);
    for (int root = 0; root < exchanged->among; root++) {
        int64_t taken = 0;
        for (int owner = root; owner < owners; owner += exchanged->among)
            taken += hs_axis_count(role->looped, owner);
        exchanged->most_taken = taken > exchanged->most_taken ? taken : exchanged->most_taken;
    }
    if (!lines->topology || role->own_axis == role->want_axis)
        return exchanged;
    exchanged->root = lines->roots + (exchanged - lines->exchange) * longest_roots(lines->grid);
    exchanged->owners = owners < owners_looked_at(count) ? owners : owners_looked_at(count);
    for (int i = 0; i < exchanged->owners; i++)
        for (int line = 0; line < count; line++)
            exchanged->root[i * count + line] = hs_exchange_root(
                role, lines->grid, lines->topology, line, (int)((int64_t)i * owners / exchanged->owners), &among);
    return exchanged;
}
