#include "hsumma/cost/price.h"

#include "base/hash.h"

#include <string.h>

hsumma_status hs_line_table_init(struct hs_line_table *lines, const struct hs_topology *topology, int one_node,
                                 const struct hs_grid *grid, const struct hs_allocator *memory)
{
    const struct hs_division *node = topology ? &topology->division[HS_NODE] : NULL;
    lines->grid = grid;
    lines->topology = node && node->parts > 1 ? topology : NULL;
    lines->one_node = node ? node->parts == 1 : one_node;
    lines->on_node = NULL;
    lines->known = 0;
    if (!lines->topology)
        return HSUMMA_OK;
    lines->on_node = hs_get(memory, (size_t)node->parts, 2 * sizeof *lines->on_node);
    return lines->on_node ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

void hs_line_table_free(struct hs_line_table *lines, const struct hs_allocator *memory)
{
    hs_put(memory, lines->on_node);
    lines->on_node = NULL;
}

/* The first member on the same node as member i. */
static int first_mate(const struct hs_division *division, const struct hs_group *group, int i)
{
    int mate = 0;
    while (division->of[hs_group_rank(group, mate)] != division->of[hs_group_rank(group, i)])
        mate++;
    return mate;
}

/* Counts, for each node, the processes whose lines are busy together with the one through `coord`. */
static void count_busy(const struct hs_line_table *lines, int axis, int stride, int coord)
{
    const struct hs_grid *grid = lines->grid;
    const struct hs_division *node = &lines->topology->division[HS_NODE];
    memset(lines->on_node, 0, (size_t)node->parts * sizeof *lines->on_node);
    for (int i = 0; i < grid->extent[0]; i++)
        for (int j = 0; j < grid->extent[1]; j++)
            if ((axis ? j : i) % stride == coord % stride)
                lines->on_node[node->of[grid->rank[i * grid->extent[1] + j]]]++;
}

/* Fills where, sharing and nodes. */
static void describe(const struct hs_line_table *lines, struct hs_line *line)
{
    const struct hs_division *node = &lines->topology->division[HS_NODE],
                             *socket = &lines->topology->division[HS_SOCKET];
    const struct hs_group *group = &line->group;
    line->nodes = 0;
    line->where = 3;
    line->sharing = 1;
    for (int i = 0; i < group->size; i++) {
        int mate = first_mate(node, group, i), mates = 0;
        line->where = hs_mix(line->where, (uint64_t)mate);
        line->where = hs_mix(line->where, (uint64_t)first_mate(socket, group, i));
        if (mate < i)
            continue;
        for (int j = i; j < group->size; j++)
            mates += node->of[hs_group_rank(group, j)] == node->of[hs_group_rank(group, i)];
        double sharing = (double)lines->on_node[node->of[hs_group_rank(group, i)]] / mates;
        line->sharing = sharing > line->sharing ? sharing : line->sharing;
        line->nodes++;
    }
    line->where = hs_mix(line->where, (uint64_t)(line->sharing * 1024));
}

static struct hs_line look_at(const struct hs_line_table *lines, int axis, int stride, int size)
{
    const struct hs_grid *grid = lines->grid;
    int step = stride * hs_grid_stride(grid, axis), all = grid->extent[0] * grid->extent[1];
    struct hs_line first = {.axis = axis,
                            .nodes = lines->one_node ? 1 : size,
                            .group = {.table = grid->rank, .stride = step, .size = size},
                            .where = (uint64_t)lines->one_node,
                            .sharing = 1},
                   last = first;
    if (!lines->topology)
        return first;
    last.group.base = all - 1 - (size - 1) * step;
    count_busy(lines, axis, stride, 0);
    describe(lines, &first);
    count_busy(lines, axis, stride, grid->extent[axis] - 1);
    describe(lines, &last);
    return first.nodes >= last.nodes ? first : last;
}

struct hs_line hs_line_of(struct hs_line_table *lines, int axis, int stride, int size)
{
    int step = stride * hs_grid_stride(lines->grid, axis);
    for (int i = 0; i < lines->known; i++) {
        const struct hs_line *line = &lines->line[i];
        if (line->axis == axis && line->group.stride == step && line->group.size == size)
            return *line;
    }
    if (lines->known == HS_LINES)
        lines->known = 0;
    return lines->line[lines->known++] = look_at(lines, axis, stride, size);
}

void hs_clock_memo_begin(struct hs_clock_memo *memo, const struct hs_profile *profile,
                         const struct hs_allocator *memory)
{
    memset(memo, 0, sizeof *memo);
    memo->profile = profile;
    memo->memory = memory;
}

/* Where this is remembered, or will be. */
static struct hs_clock_entry *entry_of(struct hs_clock_memo *memo, const struct hs_clock_entry *key)
{
    uint64_t hash = hs_mix(hs_mix(hs_mix((uint64_t)(uintptr_t)key->alg >> 4, key->where), (uint64_t)key->size),
                           hs_mix(hs_mix((uint64_t)key->bytes, (uint64_t)key->unit), (uint64_t)key->segment));
    for (unsigned i = (unsigned)(hash >> 40);; i++) {
        struct hs_clock_entry *entry = &memo->entry[i % HS_CLOCK_ENTRIES];
        if (!entry->alg || (entry->alg == key->alg && entry->where == key->where && entry->size == key->size &&
                            entry->bytes == key->bytes && entry->unit == key->unit && entry->segment == key->segment))
            return entry;
    }
}

/* The topology of the line alone, as its member `root` numbers it. */
static hsumma_status topology_of(const struct hs_line_table *lines, const struct hs_line *line, int root,
                                 const struct hs_allocator *memory, struct hs_topology *topology)
{
    int size = line->group.size;
    if (!lines->topology)
        return hs_topology_blocks(topology, size, lines->one_node ? 1 : size, 1, memory);
    int *node = hs_get(memory, (size_t)size, 2 * sizeof *node);
    if (!node)
        return HSUMMA_ERR_MEMORY;
    for (int i = 0; i < size; i++) {
        int rank = hs_group_rank(&line->group, (i + root) % size);
        node[i] = lines->topology->division[HS_NODE].of[rank];
        node[size + i] = lines->topology->division[HS_SOCKET].of[rank];
    }
    hsumma_status status = hs_topology_make(topology, size, node, node + size, memory);
    hs_put(memory, node);
    return status;
}

/*
 * All lines of a kind are busy with the same at the same time, so that a node's way out is shared evenly, by as many as
 * leave it.  (The clock's own fluid of messages would let an early message of one line disturb a late one of its own:
 * there a faster network can be slower.)
 */
static struct hs_machine shared_machine(const struct hs_machine *machine, const struct hs_line *line)
{
    struct hs_machine shared = *machine;
    double least = machine->inject * line->sharing;
    shared.inject = 0;
    shared.network.beta = machine->network.beta > least ? machine->network.beta : least;
    shared.network.beta_long = machine->network.beta_long > least ? machine->network.beta_long : least;
    return shared;
}

static hsumma_status clock_from(const struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                const struct hs_line *line, int root, const struct hs_shape *shape,
                                const struct hs_alg *alg, struct hs_cost *cost)
{
    struct hs_topology topology;
    struct hs_machine machine = shared_machine(&memo->profile->machine, line);
    struct hs_shape here = *shape;
    hsumma_status status = topology_of(lines, line, root, memo->memory, &topology);
    if (status)
        return status;
    here.topology = &topology;
    status = hs_clock_seconds(alg, &here, &machine, memo->memory, &cost->seconds, &cost->load);
    hs_topology_free(&topology, memo->memory);
    return status;
}

/*
 * Roots change from panel to panel, and ranks are counted from the root: where several members share a node, a tree
 * crosses between nodes more often for a root in the middle of a node than for its first process.  Two to a node: both
 * roots count half; more: one in the middle stands for all.
 */
static int typical_roots(const struct hs_line_table *lines, const struct hs_line *line, int root[2])
{
    int mates = 1, size = line->group.size;
    root[0] = 0;
    root[1] = 1;
    if (!lines->topology || line->nodes == 1 || line->nodes == size)
        return 1;
    const int *node = lines->topology->division[HS_NODE].of;
    while (mates < size && node[hs_group_rank(&line->group, mates)] == node[hs_group_rank(&line->group, 0)])
        mates++;
    if (mates > 2)
        root[0] = mates / 2;
    return mates == 2 ? 2 : 1;
}

/* The clock at one of the remembered sizes. */
static struct hs_cost clock_at(struct hs_clock_memo *memo, const struct hs_line_table *lines,
                               const struct hs_line *line, const struct hs_shape *shape, const struct hs_alg *alg,
                               hsumma_status *status)
{
    struct hs_clock_entry key = {.alg = alg,
                                 .where = line->where,
                                 .size = shape->size,
                                 .bytes = shape->bytes,
                                 .unit = shape->unit,
                                 .segment = shape->segment};
    struct hs_clock_entry *known = entry_of(memo, &key);
    if (known->alg)
        return known->cost;
    int roots[2], count = typical_roots(lines, line, roots);
    struct hs_cost none = {0, {0, 0}};
    key.cost = none;
    for (int i = 0; i < count; i++) {
        struct hs_cost one = none;
        hsumma_status mine = clock_from(memo, lines, line, roots[i], shape, alg, &one);
        if (mine) {
            *status = mine;
            return none;
        }
        key.cost = hs_cost_add(key.cost, one, 1.0 / count);
    }
    if (memo->count >= HS_CLOCK_ENTRIES * 3 / 4) {
        hs_clock_memo_begin(memo, memo->profile, memo->memory);
        known = entry_of(memo, &key);
    }
    *known = key;
    memo->count++;
    return key.cost;
}

/* MPI does not say what its collectives do: they are priced as the cheapest of those that it may well use. */
static struct hs_cost price_of_mpi(struct hs_clock_memo *memo, const struct hs_line_table *lines,
                                   const struct hs_line *line, enum hs_collective collective, int64_t bytes,
                                   int64_t unit, hsumma_status *status)
{
    struct hs_cost least = {-1, {0, 0}};
    const struct hs_alg *row;
    for (int i = 0; (row = hs_alg_at(i)) != NULL; i++) {
        if (row->collective != collective || !(row->flags & HS_LIKE_MPI))
            continue;
        struct hs_cost cost = hs_price(memo, lines, line, row, bytes, unit, 0, status);
        if (least.seconds < 0 || cost.seconds < least.seconds)
            least = cost;
    }
    return least;
}

/*
 * The two sizes that a price lies between, or beyond: powers of two, and for rows that cut messages into segments, once
 * a pipeline is long, two numbers of segments, from which it goes on in proportion.
 */
static void sizes_around(int64_t bytes, int64_t unit, int64_t segment, int64_t size[2])
{
    enum { PIPELINE = 8 };
    int64_t piece = segment / unit * unit;
    if (segment && piece && bytes > 2 * PIPELINE * piece) {
        size[0] = PIPELINE * piece;
        size[1] = 2 * PIPELINE * piece;
        return;
    }
    int64_t step = unit;
    while (bytes / step >= 2)
        step *= 2;
    size[0] = bytes / step * step;
    size[1] = size[0] == bytes ? bytes : size[0] + step;
}

struct hs_cost hs_price(struct hs_clock_memo *memo, const struct hs_line_table *lines, const struct hs_line *line,
                        const struct hs_alg *alg, int64_t bytes, int64_t unit, int64_t segment, hsumma_status *status)
{
    struct hs_cost cost[2] = {{0, {0, 0}}, {0, {0, 0}}};
    if (line->group.size == 1 || bytes == 0)
        return cost[0];
    if (alg->flags & HS_BY_MPI)
        return price_of_mpi(memo, lines, line, alg->collective, bytes, unit, status);
    segment = alg->flags & HS_USES_SEGMENT ? segment : 0;
    struct hs_shape shape[2];
    int64_t size[2];
    sizes_around(bytes, unit, segment, size);
    for (int i = 0; i < 2; i++)
        shape[i] = (struct hs_shape){.size = line->group.size, .bytes = size[i], .unit = unit, .segment = segment};
    if (size[0] == size[1] || hs_alg_unfit(alg, &shape[0]) || hs_alg_unfit(alg, &shape[1])) {
        shape[0].bytes = bytes;
        return clock_at(memo, lines, line, &shape[0], alg, status);
    }
    for (int i = 0; i < 2; i++)
        cost[i] = clock_at(memo, lines, line, &shape[i], alg, status);
    double part = (double)(bytes - size[0]) / (double)(size[1] - size[0]);
    return hs_cost_add(hs_cost_add(cost[0], cost[0], -part), cost[1], part);
}
