#include "summa/node/on_device.h"

#include "base/options.h"

#include <string.h>

/* More bytes than any node has.  Sums and multiples of a few such numbers stay below 2^63. */
static const double MOST = 1e18;

/* The panel in place `panel` of the order that deals the panels of equal successive parts of the matrices in turn, one
 * part for each process that owns panels.  If the panels cannot be divided equally, the order is the natural one. */
static int64_t deal(const struct hs_node_product *node, int64_t panel)
{
    int64_t parts = 1;
    for (int i = 0; i < node->ins; i++)
        parts = node->in[i].role->looped->nprocs > parts ? node->in[i].role->looped->nprocs : parts;
    return node->panels % parts ? panel : panel % parts * (node->panels / parts) + panel / parts;
}

struct hs_range hs_node_panel(const struct hs_node_product *node, int64_t panel)
{
    if (node->device && node->device->to_host)
        panel = deal(node, panel);
    int64_t begin = panel * node->spec->width[0];
    return (struct hs_range){begin, hs_min(node->spec->width[0], node->problem->extent[node->variant.looped] - begin)};
}

struct hs_range hs_supply_part(const struct hs_node_product *node, const struct hs_supply *supply, int p, int64_t step)
{
    int64_t count = hs_axis_count(supply->role->want, p);
    if (supply->operand != node->spec->chunked)
        return (struct hs_range){0, count};
    int64_t begin = hs_min(hs_chunk_of(node, step) * node->spec->chunk, count);
    return (struct hs_range){begin, hs_min(node->spec->chunk, count - begin)};
}

int hs_supply_owner(const struct hs_node_product *node, const struct hs_supply *supply, int64_t panel, int64_t *local)
{
    const struct hs_axis *axis = supply->role->looped;
    struct hs_range range = hs_node_panel(node, panel);
    if (supply->role->exchanged ||
        (axis->nprocs > 1 && hs_axis_block_end(axis, range.begin) < range.begin + range.length))
        return -1;
    int owner = axis->nprocs == 1 ? 0 : hs_axis_owner(axis, range.begin);
    *local = hs_axis_before(axis, owner, range.begin);
    return owner;
}

int hs_supply_resident(const struct hs_role *role)
{
    return !role->exchanged && role->looped->nprocs == 1;
}

int hs_variant_resident(const struct hs_variant *variant)
{
    int resident = !variant->role[HS_C].moves;
    for (int x = 0; x < 2; x++)
        resident &= !variant->role[x].moves || hs_supply_resident(&variant->role[x]);
    return resident;
}

int hs_supply_begins(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    return supply->operand == node->spec->chunked || hs_chunk_of(node, step) == 0;
}

/* The number of a step's tile.  Sets *uses to the number of steps that use one tile. */
static int64_t tile_of(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step, int64_t *uses)
{
    *uses = supply->operand == node->spec->chunked ? 1 : node->chunks;
    return step / *uses;
}

int64_t hs_supply_free_after(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    int64_t uses, tile = tile_of(node, supply, step, &uses);
    return tile < supply->ring ? 0 : (tile - supply->ring + 1) * uses;
}

char *hs_supply_slot(const struct hs_node_product *node, const struct hs_supply *supply, int64_t step, int p)
{
    int64_t uses, tile = tile_of(node, supply, step, &uses);
    return node->tiles + supply->at + (size_t)((tile % supply->ring * supply->lines + p) * supply->pitch);
}

/* The leading dimension of a tile, in elements.  Columns at distances of multiples of 1 KiB would collide in the same
 * cache sets. */
static int64_t leading(int64_t rows, int64_t size)
{
    enum { HARMFUL = 1024 };
    int64_t bytes = (rows * size + HS_CACHE_LINE - 1) / HS_CACHE_LINE * HS_CACHE_LINE;
    return (bytes % HARMFUL ? bytes : bytes + HS_CACHE_LINE) / size;
}

/* The distance in bytes between parts of `bytes` bytes.  Sets *crcs to the offset of a part's CRCs in the part. */
static int64_t distance(const struct hs_problem *problem, const struct hs_spec *spec, int64_t bytes, size_t *crcs)
{
    const size_t processes = (size_t)problem->grid.extent[0] * (size_t)problem->grid.extent[1];
    *crcs = hs_aligned((size_t)bytes);
    return (int64_t)(*crcs + (spec->checked ? hs_aligned(processes * sizeof(uint32_t)) : 0));
}

/* Sets the sizes of a supply.  tiles: number of its tiles in an execution.  Returns 0 if the size exceeds MOST. */
static int size_supply(struct hs_supply *supply, const struct hs_problem *problem, const struct hs_spec *spec,
                       int64_t length, int64_t tiles, int lines)
{
    int64_t size = (int64_t)problem->scalar->size;
    int64_t width = hs_min(spec->width[0], supply->role->looped->n);
    int rows_looped = supply->role->loop_axis == 0;
    supply->ring = (int)hs_min(spec->lookahead + 1, tiles);
    supply->lines = lines;
    if ((double)(width + 16) * (double)(length + 16) * (double)size * supply->ring * lines > MOST)
        return 0;
    supply->ld = leading(rows_looped ? width : length, size);
    supply->pitch = distance(problem, spec, supply->ld * (rows_looped ? length : width) * size, &supply->crcs);
    return 1;
}

/* Lays out the parts of C of an even division behind `bytes` bytes of tiles, like lay_out. */
static size_t lay_out_c(struct hs_node_product *node, size_t bytes)
{
    const struct hs_problem *problem = node->problem;
    int64_t rows = hs_axis_count_max(&node->variant.part[0]), cols = hs_axis_count_max(&node->variant.part[1]);
    int64_t size = (int64_t)problem->scalar->size, parts = problem->grid.extent[0] * problem->grid.extent[1];
    if ((double)(rows + 16) * (double)(cols + 16) * (double)(size * parts) > MOST)
        return SIZE_MAX;
    node->even.at = bytes;
    node->even.ld = leading(rows, size);
    node->even.pitch = distance(problem, node->spec, node->even.ld * cols * size, &node->even.crcs);
    return bytes + (size_t)(node->even.pitch * parts);
}

/* Lays out all supplies in shared memory; returns their bytes, or SIZE_MAX if they are too large. */
static size_t lay_out(struct hs_node_product *node)
{
    const struct hs_problem *problem = node->problem;
    const struct hs_spec *spec = node->spec;
    size_t bytes = 0;
    node->ins = node->outs = 0;
    node->panels = hs_cuts(problem->extent[node->variant.looped], spec->width[0]);
    node->chunks = 1;
    if (spec->chunked >= 0)
        node->chunks = hs_cuts(hs_axis_count_max(node->variant.role[spec->chunked].want), spec->chunk);
    node->chunks = node->chunks ? node->chunks : 1;
    node->steps = node->chunks > INT64_MAX / (node->panels + 1) ? INT64_MAX : node->panels * node->chunks;
    for (int x = 0; x < 3; x++) {
        const struct hs_role *role = &node->variant.role[x];
        if (!role->moves)
            continue;
        struct hs_supply *supply = x == HS_C ? &node->out : &node->in[node->ins];
        *(x == HS_C ? &node->outs : &node->ins) += 1;
        memset(supply, 0, sizeof *supply);
        supply->operand = x;
        supply->role = role;
        supply->at = bytes;
        if (x != HS_C && hs_supply_resident(role))
            continue;
        int64_t length = hs_axis_count_max(role->want);
        length = x == spec->chunked ? hs_min(spec->chunk, length) : length;
        if (!size_supply(supply, problem, spec, length, x == spec->chunked ? node->steps : node->panels,
                         x == HS_C ? problem->grid.extent[0] * problem->grid.extent[1] : role->want->nprocs))
            return SIZE_MAX;
        bytes += (size_t)supply->ring * (size_t)supply->lines * (size_t)supply->pitch;
    }
    return node->variant.even ? lay_out_c(node, bytes) : bytes;
}

int64_t hs_node_size(const struct hs_problem *problem, const struct hs_variant *variant, const struct hs_spec *spec)
{
    struct hs_node_product node;
    memset(&node, 0, sizeof node);
    node.problem = problem;
    node.spec = spec;
    node.variant = *variant;
    size_t bytes = lay_out(&node);
    return node.steps > HS_NODE_STEPS ? -1 : bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* Whether the process at `coord` gives its part of a supply to line p. */
static int gives(const struct hs_supply *supply, const int extent[2], const int coord[2], int p)
{
    const struct hs_role *role = supply->role;
    int own_axis = role->own_axis, loop_axis = role->loop_axis;
    /* of several replicas, each serves its own line, or the first serves all lines */
    if (role->own->nprocs < extent[own_axis]) {
        int server = own_axis == role->want_axis && role->want->nprocs > 1 ? p : 0;
        if (coord[own_axis] != server)
            return 0;
    }
    if (role->looped->nprocs < extent[loop_axis] && coord[loop_axis] != 0)
        return 0;
    if (hs_axis_count(role->looped, coord[loop_axis]) == 0)
        return 0;
    if (!role->exchanged)
        return hs_coord_on(role->own, coord[own_axis]) == p && hs_axis_count(role->want, p) > 0;
    struct hs_overlap walk = hs_overlap_begin(role->own, coord[own_axis], role->want, p, 0, role->own->n);
    int64_t begin, length;
    return hs_overlap_next(&walk, 1, &begin, &length);
}

int hs_node_multiplies(const struct hs_node_product *node, const int coord[2])
{
    for (int dim = 0; dim < 3; dim++)
        if (node->variant.axis[dim] && hs_axis_count(node->variant.axis[dim], coord[node->variant.axis_of[dim]]) == 0)
            return 0;
    return 1;
}

/* Whether the process at `coord` reads tiles of a supply, or for C makes partial results. */
static int reads_tiles(const struct hs_node_product *node, const struct hs_supply *supply, const int coord[2])
{
    return hs_node_multiplies(node, coord) && !(node->variant.even && hs_even_owns(node, supply->operand, coord));
}

/* Whether any process of a line reads tiles; without an even division gives() has found out. */
static int is_read(const struct hs_node_product *node, const struct hs_supply *supply, int p)
{
    const struct hs_grid *grid = &node->problem->grid;
    int found = !node->variant.even, coord[2];
    for (int i = 0; i < grid->extent[0] * grid->extent[1] && !found; i++) {
        hs_grid_coordinates(grid, i, coord);
        found = hs_supply_line(supply, coord) == p && reads_tiles(node, supply, coord);
    }
    return found;
}

static void add(struct hs_peers *peers, int rank, int coord, int place)
{
    peers->rank[peers->count] = rank;
    peers->place[peers->count] = place;
    peers->coord[peers->count++] = coord;
}

/*
 * Finds the givers and takers of a supply.  For A and B, givers fill the parts that this process reads, and takers read
 * the parts that it fills.  For C the roles are reversed: partial results go from the processes that multiply to the
 * owners.
 */
static void meet(struct hs_node_product *node, struct hs_supply *supply, const struct hs_mates *mates)
{
    const struct hs_grid *grid = &node->problem->grid;
    const struct hs_role *role = supply->role;
    int mine = hs_supply_line(supply, grid->coord), reads = reads_tiles(node, supply, grid->coord);
    for (int p = 0; p < role->want->nprocs; p++)
        supply->gives[p] = (int8_t)(gives(supply, grid->extent, grid->coord, p) && is_read(node, supply, p));
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++) {
        int coord[2];
        hs_grid_coordinates(grid, i, coord);
        int rank = hs_mate_index(mates, hs_grid_rank(grid, i)), at = hs_coord_on(role->looped, coord[role->loop_axis]);
        if (reads && gives(supply, grid->extent, coord, mine))
            add(&supply->givers, rank, at, i);
        if (supply->gives[hs_supply_line(supply, coord)] && reads_tiles(node, supply, coord))
            add(&supply->takers, rank, at, i);
    }
}

static hsumma_status meet_all(struct hs_node_product *node, const struct hs_mates *mates,
                              const struct hs_allocator *memory)
{
    const int *extent = node->problem->grid.extent;
    size_t ranks = (size_t)extent[0] * (size_t)extent[1],
           lines = (size_t)(extent[0] > extent[1] ? extent[0] : extent[1]);
    struct hs_supply *all[3] = {&node->in[0], &node->in[1], &node->out};
    node->peers_memory = hs_get(memory, (3 * 6 + 2) * ranks, sizeof *node->peers_memory);
    node->lines_memory = hs_get_zero(memory, 3 * lines, 1);
    if (!node->peers_memory || !node->lines_memory)
        return HSUMMA_ERR_MEMORY;
    for (int i = 0; i < 3; i++) {
        int *numbers = node->peers_memory + (size_t)i * 6 * ranks;
        all[i]->givers = (struct hs_peers){.rank = numbers, .coord = numbers + ranks, .place = numbers + 2 * ranks};
        all[i]->takers =
            (struct hs_peers){.rank = numbers + 3 * ranks, .coord = numbers + 4 * ranks, .place = numbers + 5 * ranks};
        all[i]->gives = node->lines_memory + (size_t)i * lines;
        if (all[i]->ring > 0)
            meet(node, all[i], mates);
    }
    node->even.makers.rank = node->peers_memory + 3 * 6 * ranks;
    node->even.makers.place = node->peers_memory + (3 * 6 + 1) * ranks;
    if (node->variant.even)
        hs_even_meet(node, mates);
    return HSUMMA_OK;
}

hsumma_status hs_node_init(struct hs_node_product *node, const struct hs_problem *problem, const struct hs_spec *spec,
                           const struct hs_mates *mates, const struct hs_allocator *memory, struct hs_message *message)
{
    memset(node, 0, sizeof *node);
    node->problem = problem;
    node->spec = spec;
    hsumma_status status = HSUMMA_OK;
    if (spec->node == HS_NODE_EVEN)
        hs_variant_divide(problem, &node->variant);
    else
        status = hs_variant_make(problem, spec->stationary, &node->variant, message);
    if (status)
        return status;
    node->bytes = lay_out(node);
    for (int dim = 0; dim < 3; dim++)
        if (node->variant.axis[dim])
            node->local[dim] = hs_axis_count(node->variant.axis[dim], problem->grid.coord[node->variant.axis_of[dim]]);
    status = meet_all(node, mates, memory);
    if (status)
        hs_fail(message, status, "no memory for a plan");
    if (status)
        hs_node_free(node, memory);
    return status;
}

void hs_node_free(struct hs_node_product *node, const struct hs_allocator *memory)
{
    hs_put(memory, node->peers_memory);
    hs_put(memory, node->lines_memory);
    node->peers_memory = NULL;
    node->lines_memory = NULL;
}
