#include "summa/messages/mover.h"

#include <string.h>

/*
 * The tier of the panels that are copied from or to the matrix, or exchanged: the tier of the outermost level, or the
 * innermost tier if there is no level (always so with spread).  An exchange needs the same tier on all lines, but lines
 * may have different levels over cells, so an exchange has the tier of the outermost level over members.
 */
static int outer_tier(const struct hs_mover *mover, const struct hs_spec *spec)
{
    const struct hs_factors *members = &spec->factors[mover->role->line_axis];
    int tier = mover->levels ? mover->tier[0] : spec->levels - 1;
    for (int l = 0; spec->cells && mover->role->exchanged && !mover->spread && l < tier; l++)
        if (members->size[l] > 1)
            return l;
    return tier;
}

/*
 * Keeps the levels with more than one cell; for C, levels are merged first (hs_factors_merge_for_sums).  If the
 * hierarchy cannot be converted into levels over cells, the levels are over members, and the members of a cell share
 * nothing.
 */
static void keep_levels(struct hs_mover *mover, const struct hs_spec *spec, const struct hs_cells *cells)
{
    struct hs_factors all = spec->factors[mover->role->line_axis], over;
    int tier[HS_LEVELS_MAX];
    mover->place = mover->line;
    mover->members = 1;
    if (cells && !mover->spread && hs_cells_factors(cells->division, &all, &over)) {
        all = over;
        mover->cells = cells;
        mover->place = cells->me;
        mover->members = cells->members;
    }
    for (int l = 0; l < all.levels; l++)
        tier[l] = l;
    if (mover->operand == HS_C) {
        struct hs_factors given = all;
        hs_factors_merge_for_sums(&given, &all, tier);
    }
    for (int l = 0; l < all.levels; l++) {
        if (all.size[l] == 1 || mover->spread)
            continue;
        int kept = mover->levels++;
        mover->factors.size[kept] = all.size[l];
        mover->factors.stride[kept] = all.stride[l];
        mover->tier[kept] = tier[l];
        mover->alg[kept] = mover->operand == HS_C ? spec->reduce[tier[l]] : spec->bcast[tier[l]];
        mover->with[kept] = mover->operand == HS_C ? spec->reduce_with[tier[l]] : spec->bcast_with[tier[l]];
    }
    mover->factors.levels = mover->levels;
    mover->tier0 = outer_tier(mover, spec);
}

/*
 * If k is large, panels of C are much smaller than those of A or B, and their reductions are bound by latency.  A
 * reduction counts as four panels of C (partial, sum, two of scratch); those in flight together take at most as much
 * memory as half a panel of the moving A or B.  If groups have at most HS_FEW_REDUCED members, two reductions are in
 * flight in any case: one with another root then uses the other half of each link, and the two take hardly longer than
 * one; in a larger binomial tree the second waits for the first (doc/results/simulator.md).
 */
int hs_reductions_in_flight(const struct hs_variant *variant, const struct hs_spec *spec,
                            const struct hs_factors *levels)
{
    enum { MOST = 8, PANELS_OF_EACH = 4 };
    int64_t fed = 0, drained = hs_axis_count_max(variant->role[HS_C].want);
    int most = 1;
    for (int x = HS_A; x <= HS_B; x++)
        if (variant->role[x].moves)
            fed = hs_axis_count_max(variant->role[x].want);
    for (int l = 0; l < levels->levels; l++)
        most = levels->size[l] > most ? levels->size[l] : most;
    if (drained == 0 || spec->lookahead == 0)
        return 1;
    int64_t fitting = fed / (2 * PANELS_OF_EACH * drained), least = most > 1 && most <= HS_FEW_REDUCED ? 2 : 1;
    int64_t width = spec->width[spec->levels - 1]; /* 0: not chosen yet */
    int64_t panels = width > 0 ? (variant->role[HS_C].looped->n - 1) / width + 1 : 1;
    fitting = fitting < least ? least : fitting;
    fitting = fitting < panels ? fitting : panels;
    return fitting > MOST ? MOST : fitting > 1 ? (int)fitting : 1;
}

void hs_mover_init(struct hs_mover *mover, const struct hs_problem *problem, const struct hs_variant *variant,
                   const struct hs_spec *spec, const struct hs_panels *panels, const struct hs_topology *topology,
                   const struct hs_cells *cells, int operand)
{
    const struct hs_grid *grid = &problem->grid;
    memset(mover, 0, sizeof *mover);
    mover->operand = operand;
    mover->index = operand - (variant->stationary < operand);
    mover->problem = problem;
    mover->role = &variant->role[operand];
    mover->panels = panels;
    mover->topology_of_all = topology && topology->size && topology->division[HS_NODE].parts > 1 ? topology : NULL;
    mover->length = hs_axis_count(mover->role->want, grid->coord[mover->role->want_axis]);
    mover->held = hs_axis_count(mover->role->own, grid->coord[mover->role->own_axis]);
    mover->line = grid->coord[mover->role->line_axis];
    mover->loop_coord = grid->coord[mover->role->loop_axis];
    mover->spread =
        spec->spread && mover->role->exchanged && operand != HS_C && problem->grid.extent[mover->role->line_axis] > 1;
    keep_levels(mover, spec, cells);
    mover->reductions = operand == HS_C ? hs_reductions_in_flight(variant, spec, &mover->factors) : 0;
    mover->box = mover->cells && mover->levels == 1 && mover->cells->box.dims ? &mover->cells->box : NULL;
    int me = hs_grid_me(&mover->problem->grid);
    int step = mover->cells ? 1 : hs_grid_stride(grid, mover->role->line_axis);
    for (int l = 0; l < mover->levels; l++) {
        int digit = hs_digit(&mover->factors, l, mover->place), stride = mover->factors.stride[l] * step;
        mover->group[l] = (struct hs_group){.table = grid->rank,
                                            .base = (mover->cells ? mover->place : me) - digit * stride,
                                            .stride = stride,
                                            .size = mover->factors.size[l],
                                            .me = digit};
    }
}

/* The coordinate on role->own_axis of the holder that represents all holders of a line's indices: the holder of the
 * first index or, with replicas, the one that serves the line.  line: the line's coordinate on role->want_axis. */
static int holder_of_line(const struct hs_role *role, int line)
{
    int want = line < role->want->nprocs ? line : 0;
    if (role->replicas > 1)
        return line % role->replicas;
    return hs_axis_count(role->want, want) ? hs_axis_owner(role->own, hs_axis_global(role->want, want, 0)) : 0;
}

int hs_exchange_root(const struct hs_role *role, const struct hs_grid *grid, const struct hs_topology *nodes, int line,
                     int owner, int *among)
{
    int size = grid->extent[role->line_axis], mates = 0;
    *among = size;
    if (!role->exchanged)
        return owner;
    if (!nodes || role->own_axis == role->want_axis)
        return owner % size;
    int holder = holder_of_line(role, line);
    int node = hs_node_on_line(nodes, grid, role->own_axis, owner, holder);
    for (int m = 0; m < size; m++)
        mates += hs_node_on_line(nodes, grid, role->line_axis, line, m) == node;
    if (line == owner || mates == 0) /* if line == owner, the holder is on the line */
        return mates ? holder : owner % size;
    int root = 0;
    for (int left = owner % mates; root < size; root++)
        if (hs_node_on_line(nodes, grid, role->line_axis, line, root) == node && left-- == 0)
            break;
    *among = mates;
    return root;
}

int hs_mover_root(const struct hs_mover *mover, int pair)
{
    int owner = mover->panels->pairs.pair[pair].owner[mover->index];
    return mover->root ? mover->root[owner] : owner;
}

/* The coordinate that the levels divide: the index of the member's cell or, without cells, of the member. */
static int place_of(const struct hs_mover *mover, int member)
{
    return mover->cells ? hs_part_of(mover->cells->division, member) : member;
}

int hs_mover_level(const struct hs_mover *mover, int root)
{
    int l = mover->levels - 1, place = place_of(mover, root);
    while (l >= 0 && hs_digit(&mover->factors, l, mover->place) == hs_digit(&mover->factors, l, place))
        l--;
    return l;
}

int64_t hs_mover_buffer_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                              int tier, int64_t length)
{
    int64_t width = spec->width[tier] < pairs->width_max ? spec->width[tier] : pairs->width_max;
    return (int64_t)hs_aligned((size_t)hs_bytes_of(width, length, (int64_t)mover->problem->scalar->size));
}

int64_t hs_mover_exchange_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs)
{
    const struct hs_role *role = mover->role;
    if (!role->exchanged)
        return 0;
    return hs_mover_buffer_bytes(mover, spec, pairs, mover->tier0, role->give_max[mover->spread]) +
           (role->direct ? 0 : hs_mover_buffer_bytes(mover, spec, pairs, mover->tier0, role->take_max[mover->spread]));
}

struct hs_run_of_panels hs_mover_run(const struct hs_mover *mover, int tier, int o)
{
    const struct hs_tier *of = &mover->panels->tier[tier];
    int pair = mover->panels->panel[of->first[o]].pair;
    return (struct hs_run_of_panels){.panels = mover->panels,
                                     .role = mover->role,
                                     .scalar = mover->problem->scalar,
                                     .loop_coord = mover->panels->pairs.pair[pair].owner[mover->index],
                                     .begin = of->first[o],
                                     .end = of->first[o + 1]};
}

int hs_mover_pair(const struct hs_mover *mover, int tier, int o)
{
    return mover->panels->panel[mover->panels->tier[tier].first[o]].pair;
}

struct hs_binding hs_mover_binding(const struct hs_mover *mover, int level, int pair)
{
    int member = hs_mover_root(mover, pair);
    const struct hs_shape shape = {.root = hs_digit(&mover->factors, level, place_of(mover, member))};
    struct hs_group group = mover->group[level];
    if (mover->cells)
        group.at = mover->cells->carrier +
                   (size_t)hs_place_in_part(mover->cells->division, member) * (size_t)mover->cells->division->parts;
    return (struct hs_binding){
        .group = group,
        .rotation = hs_rotation(mover->alg[level], &shape),
        .combine = mover->problem->scalar->add,
        .compute = mover->problem->scalar->compute,
        .unit = (int64_t)mover->problem->scalar->size,
        .native = &mover->native[level],
        .operation = &mover->operation,
    };
}

hsumma_status hs_mover_lists(const struct hs_mover *mover, int level, int64_t segment, struct hs_cache *lists,
                             int *list)
{
    const struct hs_tier *tier = &mover->panels->tier[mover->tier[level]];
    const struct hs_alg *alg = mover->alg[level];
    int64_t unit = (int64_t)mover->problem->scalar->size;
    int size = mover->factors.size[level], me = mover->group[level].me;
    hsumma_status status = HSUMMA_OK;
    for (int o = 0; !status && o < tier->count; o++) {
        int root = hs_mover_root(mover, hs_mover_pair(mover, mover->tier[level], o));
        list[o] = -1;
        if (tier->first[o] >= mover->panels->run || hs_mover_level(mover, root) > level ||
            !hs_mover_carries(mover, root))
            continue;
        const struct hs_shape shape = {.root = hs_digit(&mover->factors, level, place_of(mover, root))};
        int rotation = hs_rotation(alg, &shape);
        struct hs_list_key key = {.alg = alg,
                                  .rank = (me - rotation + size) % size,
                                  .size = size,
                                  .root = alg->flags & HS_TRUE_ROOT ? shape.root : 0,
                                  .bytes = hs_tier_width(mover->panels, mover->tier[level], o) * mover->length * unit,
                                  .unit = unit,
                                  .segment = segment,
                                  .topology = alg->flags & HS_USES_TOPOLOGY ? &mover->topology[level] : NULL,
                                  .box = alg->flags & HS_USES_BOX ? mover->box : NULL,
                                  .with = mover->with[level]};
        status = hs_cache_get(lists, &key, &list[o]);
    }
    return status;
}

int hs_mover_holds(const struct hs_mover *mover, int pair)
{
    return mover->panels->pairs.pair[pair].owner[mover->index] == mover->loop_coord;
}

int hs_mover_takes(const struct hs_mover *mover, int pair)
{
    return mover->spread || hs_mover_root(mover, pair) == mover->line;
}

/* Index in the grid of holder q of a pair's panels. */
static int holder_of(const struct hs_mover *mover, int pair, int q)
{
    int owner = mover->panels->pairs.pair[pair].owner[mover->index];
    return hs_grid_index(&mover->problem->grid, mover->role->own_axis, q, owner);
}

/* Number of pinned indices that holder q gives to taker i.  Only one of several replicas gives any. */
static int64_t indices_between(const struct hs_role *role, int q, int i)
{
    if (role->replicas > 1 && q != i % role->replicas)
        return 0;
    return hs_overlap_count(role->own, q, role->want, i);
}

hsumma_status hs_mover_make_tables(struct hs_mover *mover, const struct hs_allocator *memory)
{
    const struct hs_role *role = mover->role;
    const struct hs_grid *grid = &mover->problem->grid;
    int takers = grid->extent[role->want_axis], holders = grid->extent[role->own_axis], among;
    hsumma_status status = HSUMMA_OK;
    for (int l = 0; !status && l < mover->levels; l++)
        if (mover->alg[l]->flags & HS_USES_TOPOLOGY)
            status = mover->topology_of_all
                         ? hs_group_topology(&mover->group[l], 0, mover->topology_of_all, memory, &mover->topology[l])
                         : hs_topology_blocks(&mover->topology[l], mover->group[l].size, 1, 1, memory);
    if (status || !role->exchanged)
        return status;
    mover->gives = hs_get(memory, (size_t)(takers + holders), sizeof *mover->gives);
    if (!mover->gives)
        return HSUMMA_ERR_MEMORY;
    mover->takes = mover->gives + takers;
    mover->root = hs_get(memory, (size_t)(grid->extent[role->loop_axis] + takers), sizeof *mover->root);
    if (!mover->root)
        return HSUMMA_ERR_MEMORY;
    mover->taker = mover->root + grid->extent[role->loop_axis];
    for (int owner = 0; owner < grid->extent[role->loop_axis]; owner++)
        mover->root[owner] =
            hs_exchange_root(role, grid, mover->topology_of_all, grid->coord[role->want_axis], owner, &among);
    for (int i = 0; i < takers; i++)
        mover->taker[i] = hs_exchange_root(role, grid, mover->topology_of_all, i, mover->loop_coord, &among);
    for (int i = 0; i < takers; i++)
        mover->gives[i] = indices_between(role, grid->coord[role->own_axis], i);
    for (int q = 0; q < holders; q++)
        mover->takes[q] = indices_between(role, q, grid->coord[role->want_axis]);
    return HSUMMA_OK;
}

void hs_mover_free_tables(struct hs_mover *mover, const struct hs_allocator *memory)
{
    for (int l = 0; l < mover->levels; l++)
        hs_topology_free(&mover->topology[l], memory);
    hs_put(memory, mover->gives);
    hs_put(memory, mover->root);
    mover->gives = mover->takes = NULL;
    mover->root = mover->taker = NULL;
}

int64_t hs_mover_exchange_indices(const struct hs_mover *mover, int as_holder)
{
    const struct hs_role *role = mover->role;
    const struct hs_grid *grid = &mover->problem->grid;
    const int64_t *with = as_holder ? mover->gives : mover->takes;
    int others = grid->extent[as_holder ? role->want_axis : role->own_axis];
    int self = grid->coord[as_holder ? role->own_axis : role->want_axis];
    int64_t sum = 0;
    if (role->direct && !as_holder)
        return 0;
    for (int other = 0; other < others; other++)
        /* on one axis and without `spread`, index `self` is this process itself, for every pair */
        if (mover->spread || role->own_axis != role->want_axis || other != self)
            sum += with[other];
    return sum;
}

/* Whether this process, as a holder, has a packed message for the takers with coordinate i: it gives them indices, and
 * these takers include another process. */
static int packs_for(const struct hs_mover *mover, int i)
{
    const struct hs_grid *grid = &mover->problem->grid;
    int taker = hs_grid_index(grid, mover->role->want_axis, i, mover->taker[i]);
    return mover->gives[i] > 0 && (mover->spread || taker != hs_grid_me(grid));
}

/* Lists the messages between this process, as a holder, and its takers, by ascending taker.  Messages to all takers
 * with coordinate i have the same contents.  Returns the number of messages. */
static int pieces_to(const struct hs_mover *mover, int64_t width, struct hs_piece *piece)
{
    const struct hs_role *role = mover->role;
    const int *extent = mover->problem->grid.extent;
    int64_t unit = width * (int64_t)mover->problem->scalar->size;
    int count = 0;
    for (int process = 0; process < extent[0] * extent[1]; process++) {
        const int coord[2] = {process / extent[1], process % extent[1]};
        int i = coord[role->want_axis];
        int64_t at = 0;
        if ((!mover->spread && coord[role->line_axis] != mover->taker[i]) ||
            process == hs_grid_me(&mover->problem->grid) || mover->gives[i] == 0)
            continue;
        for (int before = 0; before < i; before++)
            at += packs_for(mover, before) ? mover->gives[before] : 0;
        piece[count++] = (struct hs_piece){.peer = process, .at = at * unit, .count = mover->gives[i] * unit};
    }
    return count;
}

/* Lists the messages between this process, as a taker, and its holders, by ascending holder.  Returns the number of
 * messages. */
static int pieces_from(const struct hs_mover *mover, int pair, int64_t width, struct hs_piece *piece)
{
    int64_t unit = width * (int64_t)mover->problem->scalar->size, at = 0;
    int count = 0;
    for (int q = 0; q < mover->problem->grid.extent[mover->role->own_axis]; q++) {
        int peer = holder_of(mover, pair, q);
        if (mover->takes[q] == 0 || peer == hs_grid_me(&mover->problem->grid))
            continue;
        piece[count++] = (struct hs_piece){.peer = peer, .at = at * unit, .count = mover->takes[q] * unit};
        at += mover->takes[q];
    }
    return count;
}

static hsumma_status exchange_list(const struct hs_mover *mover, int outward, int pair, int64_t width,
                                   const struct hs_allocator *memory, struct hs_list *list)
{
    const struct hs_grid *grid = &mover->problem->grid;
    int me = hs_grid_me(&mover->problem->grid);
    size_t most = (size_t)grid->extent[0] * (size_t)grid->extent[1];
    struct hs_piece *piece = hs_get(memory, 2 * most, sizeof *piece);
    if (!piece)
        return HSUMMA_ERR_MEMORY;
    int held = hs_mover_holds(mover, pair) ? pieces_to(mover, width, piece) : 0;
    int taken = hs_mover_takes(mover, pair) ? pieces_from(mover, pair, width, piece + most) : 0;
    hsumma_status status = outward ? hs_exchange_build(me, (int)most, piece + most, taken, piece, held, memory, list)
                                   : hs_exchange_build(me, (int)most, piece, held, piece + most, taken, memory, list);
    hs_put(memory, piece);
    return status;
}

hsumma_status hs_mover_exchange_lists(const struct hs_mover *mover, int outward, struct hs_cache *lists, int *list)
{
    const struct hs_tier *tier = &mover->panels->tier[mover->tier0];
    for (int o = 0; o < tier->count; o++) {
        int pair = hs_mover_pair(mover, mover->tier0, o);
        int64_t width = hs_tier_width(mover->panels, mover->tier0, o);
        list[o] = -1;
        if (tier->first[o] >= mover->panels->run || (!hs_mover_holds(mover, pair) && !hs_mover_takes(mover, pair)))
            continue;
        struct hs_list_key key = {.rank = mover->operand, .size = outward, .root = pair, .bytes = width};
        list[o] = hs_cache_find(lists, &key);
        if (list[o] >= 0)
            continue;
        struct hs_list made;
        hsumma_status status = exchange_list(mover, outward, pair, width, lists->memory, &made);
        if (!status)
            status = hs_cache_add(lists, &key, &made);
        if (status)
            return status;
        list[o] = lists->last;
    }
    return HSUMMA_OK;
}

void hs_mover_exchange_copy(const struct hs_mover *mover, int o, enum hs_exchange_step step, char *message,
                            const struct hs_matrix *matrix, char *slabs, const void *beta)
{
    const struct hs_role *role = mover->role;
    const struct hs_grid *grid = &mover->problem->grid;
    struct hs_run_of_panels run = hs_mover_run(mover, mover->tier0, o);
    int as_holder = step == HS_MATRIX_TO_MESSAGE || step == HS_MESSAGE_TO_MATRIX;
    int pair = hs_mover_pair(mover, mover->tier0, o);
    int64_t width = hs_tier_width(mover->panels, mover->tier0, o);
    int others = grid->extent[as_holder ? role->want_axis : role->own_axis];
    if (role->direct && !as_holder)
        return;
    for (int other = 0; other < others; other++) {
        int q = as_holder ? grid->coord[role->own_axis] : other, i = as_holder ? other : grid->coord[role->want_axis];
        int64_t count = (as_holder ? mover->gives : mover->takes)[other] * width;
        if (count == 0 ||
            (as_holder ? !packs_for(mover, i) : holder_of(mover, pair, q) == hs_grid_me(&mover->problem->grid)))
            continue;
        if (role->direct) /* the message has the layout of the taker's slabs */
            hs_exchange_copy(&run, step == HS_MATRIX_TO_MESSAGE ? HS_MATRIX_TO_SLABS : HS_SLABS_TO_MATRIX, q, i, NULL,
                             matrix, message, beta);
        else
            hs_exchange_copy(&run, step, q, i, message, matrix, slabs, beta);
        message += count * (int64_t)mover->problem->scalar->size;
    }
}

void hs_mover_exchange_own(const struct hs_mover *mover, int o, enum hs_exchange_step step,
                           const struct hs_matrix *matrix, char *slabs, const void *beta)
{
    const int *coord = mover->problem->grid.coord;
    int pair = hs_mover_pair(mover, mover->tier0, o);
    if (!hs_mover_holds(mover, pair) || !hs_mover_takes(mover, pair))
        return;
    int q = coord[mover->role->own_axis], i = coord[mover->role->want_axis];
    struct hs_run_of_panels run = hs_mover_run(mover, mover->tier0, o);
    if (mover->takes[q] > 0)
        hs_exchange_copy(&run, step, q, i, NULL, matrix, slabs, beta);
}
