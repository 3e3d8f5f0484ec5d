#include "hsumma/predict.h"

#include <string.h>

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
    uint64_t hash = ((uint64_t)(uintptr_t)key->alg >> 4) + (uint64_t)key->size * 0x9e3779b1u +
                    (uint64_t)key->bytes * 0x85ebca77u + (uint64_t)key->unit * 31 +
                    (uint64_t)key->segment * 0xc2b2ae3du;
    hash = (hash ^ hash >> 23) * 0x9e3779b97f4a7c15u;
    for (unsigned i = (unsigned)(hash >> 40);; i++) {
        struct hs_clock_entry *entry = &memo->entry[i % HS_CLOCK_ENTRIES];
        if (!entry->alg || (entry->alg == key->alg && entry->size == key->size && entry->bytes == key->bytes &&
                            entry->unit == key->unit && entry->segment == key->segment))
            return entry;
    }
}

/* The clock at one of the remembered sizes. */
static double clock_at(struct hs_clock_memo *memo, const struct hs_alg *alg, int size, int64_t bytes, int64_t unit,
                       int64_t segment, hsumma_status *status)
{
    struct hs_clock_entry key = {alg, size, bytes, unit, segment, 0}, *known = entry_of(memo, &key);
    if (known->alg)
        return known->seconds;
    struct hs_shape shape = {.size = size, .bytes = bytes, .unit = unit, .segment = segment};
    struct hs_clock_report report = {0};
    hsumma_status mine = hs_clock(alg, &shape, &memo->profile->machine, memo->memory, &report);
    if (mine) {
        *status = mine;
        return 0;
    }
    if (memo->count >= HS_CLOCK_ENTRIES * 3 / 4) {
        hs_clock_memo_begin(memo, memo->profile, memo->memory);
        known = entry_of(memo, &key);
    }
    key.seconds = report.seconds;
    *known = key;
    memo->count++;
    return key.seconds;
}

/* MPI does not say what its collectives do: they are priced as the cheaper of two that it may well use. */
static double clock_of_mpi(struct hs_clock_memo *memo, enum hs_collective collective, int size, int64_t bytes,
                           int64_t unit, hsumma_status *status)
{
    static const char *const stand_ins[] = {"binomial", "van_de_geijn"};
    double least = -1;
    for (int i = 0; i < 2; i++) {
        const struct hs_alg *alg = hs_alg_find(collective, stand_ins[i]);
        double seconds = alg ? hs_clock_of(memo, alg, size, bytes, unit, 0, status) : -1;
        if (alg && (least < 0 || seconds < least))
            least = seconds;
    }
    return least;
}

double hs_clock_of(struct hs_clock_memo *memo, const struct hs_alg *alg, int size, int64_t bytes, int64_t unit,
                   int64_t segment, hsumma_status *status)
{
    if (size == 1 || bytes == 0)
        return 0;
    if (alg->flags & HS_BY_MPI)
        return clock_of_mpi(memo, alg->collective, size, bytes, unit, status);
    if (!(alg->flags & HS_USES_SEGMENT))
        segment = 0;
    int64_t step = unit;
    while (bytes / step >= 16)
        step *= 2;
    int64_t below = bytes / step * step, above = below + step;
    struct hs_shape ends[2] = {{.size = size, .bytes = below, .unit = unit, .segment = segment},
                               {.size = size, .bytes = above, .unit = unit, .segment = segment}};
    if (below == 0 || below == bytes || hs_alg_unfit(alg, &ends[0]) || hs_alg_unfit(alg, &ends[1]))
        return clock_at(memo, alg, size, bytes, unit, segment, status);
    double low = clock_at(memo, alg, size, below, unit, segment, status);
    double high = clock_at(memo, alg, size, above, unit, segment, status);
    return low + (high - low) * (double)(bytes - below) / (double)step;
}

/* What one moving operand costs: all its panels, the first of them alone, and what this process copies for it. */
struct cost {
    double all, first, copy;
};

/* All panels of one level, from the widths of the pairs: so many whole ones, and the ragged last ones. */
static struct cost level_cost(struct hs_clock_memo *memo, const struct hs_mover *mover, const struct hs_spec *spec,
                              const struct hs_pairs *pairs, int level, int64_t length, hsumma_status *status)
{
    int64_t width = spec->width[mover->tier[level]];
    width = width < pairs->width_max ? width : pairs->width_max > 0 ? pairs->width_max : 1;
    int64_t unit = (int64_t)mover->problem->scalar->size;
    int64_t whole = 0, eighth = (width + 7) / 8; /* ragged widths are rounded up to eighths: few values for the clock */
    struct cost cost = {0, 0, 0};
    for (int i = 0; i < pairs->count; i++) {
        whole += pairs->pair[i].width / width;
        cost.all += hs_clock_of(memo, mover->alg[level], mover->factors.size[level],
                                (pairs->pair[i].width % width + eighth - 1) / eighth * eighth * length * unit, unit,
                                spec->segment, status);
    }
    double one = hs_clock_of(memo, mover->alg[level], mover->factors.size[level], width * length * unit, unit,
                             spec->segment, status);
    cost.first = one;
    cost.all += (double)whole * one;
    return cost;
}

static const char *how(const struct hs_mover *mover)
{
    static const char *const words[2][2][2] = {{{"local", "broadcast"}, {"exchanged", "exchanged and broadcast"}},
                                               {{"local", "reduced"}, {"exchanged", "reduced and exchanged"}}};
    return words[mover->operand == HS_C][mover->role->exchanged][mover->levels > 0];
}

/* The exchange of all panels, by the process that has most to do; adds to the cost of moving. */
static hsumma_movement exchange_cost(const struct hs_mover *mover, const struct hs_spec *spec,
                                     const struct hs_pairs *pairs, const struct hs_machine *machine, struct cost *cost)
{
    const struct hs_role *role = mover->role;
    const int *extent = mover->problem->grid.extent;
    double size = (double)mover->problem->scalar->size, width = (double)spec->width[mover->tier0];
    int lines = mover->spread ? extent[role->line_axis] : 1;
    int64_t held = hs_axis_count_max(role->looped), most_taken = 0, panels = 0;
    for (int line = 0; line < extent[role->line_axis]; line++) { /* a root takes from the owners that it stands for */
        int64_t taken = 0;
        for (int owner = line; owner < role->looped->nprocs; owner += extent[role->line_axis])
            taken += hs_axis_count(role->looped, owner);
        most_taken = taken > most_taken ? taken : most_taken;
    }
    double packed = (double)role->give_max[mover->spread] * (double)held * size, given = packed * lines;
    double taken =
        (double)role->take_max[mover->spread] * (double)(mover->spread ? role->looped->n : most_taken) * size;
    for (int i = 0; i < pairs->count; i++)
        panels += (pairs->pair[i].width + spec->width[mover->tier0] - 1) / spec->width[mover->tier0];
    double messages = machine->alpha * (given > 0 || taken > 0 ? extent[role->want_axis] * lines : 0);
    double most = given > taken ? given : taken;
    double seconds = (double)panels * messages + most * machine->beta;
    cost->all += seconds;
    cost->first += messages + (role->looped->n ? width / (double)role->looped->n : 0) * most * machine->beta;
    cost->copy += (packed + taken) * machine->copy;
    return (hsumma_movement){how(mover), (size_t)(given + taken), seconds};
}

static struct cost mover_cost(struct hs_clock_memo *memo, const struct hs_mover *mover, const struct hs_spec *spec,
                              const struct hs_pairs *pairs, hsumma_movement *movement, hsumma_status *status)
{
    struct cost cost = {0, 0, 0};
    const struct hs_role *role = mover->role;
    int64_t length = hs_axis_count_max(role->want);
    for (int l = 0; l < mover->levels; l++) {
        struct cost level = level_cost(memo, mover, spec, pairs, l, length, status);
        cost.all += level.all;
        cost.first += level.first;
    }
    const struct hs_machine *machine = &memo->profile->machine;
    double line = (double)role->looped->n * (double)mover->problem->scalar->size * machine->copy;
    double share = line * (double)hs_axis_count_max(role->own) / role->looped->nprocs;
    if (mover->operand == HS_C) /* partial panels are written beside C and added to it */
        cost.copy = line * (double)length + 2 * share;
    else if (!pairs->in_place[mover->index])
        cost.copy = share;
    *movement = (hsumma_movement){how(mover), 0, 0};
    if (role->exchanged)
        *movement = exchange_cost(mover, spec, pairs, machine, &cost);
    return cost;
}

hsumma_status hs_predict(struct hs_clock_memo *memo, const struct hs_problem *problem, const struct hs_variant *variant,
                         const struct hs_spec *spec, const struct hs_pairs *pairs, int threads,
                         struct hs_prediction *prediction)
{
    hsumma_status status = HSUMMA_OK;
    double all = 0, first = 0, copy = 0;
    double extent[3];
    for (int dim = 0; dim < 3; dim++)
        extent[dim] =
            dim == variant->looped ? (double)problem->extent[dim] : (double)hs_axis_count_max(variant->axis[dim]);
    hsumma_movement movement[3];
    for (int x = 0; x < 3; x++) {
        movement[x] = (hsumma_movement){"stays", 0, 0};
        if (!variant->role[x].moves)
            continue;
        struct hs_mover mover;
        hs_mover_init(&mover, problem, variant, spec, NULL, x);
        struct cost cost = mover_cost(memo, &mover, spec, pairs, &movement[x], &status);
        all += cost.all;
        first += cost.first;
        copy += cost.copy;
    }
    double width = (double)spec->width[spec->levels - 1];
    double gemm = hs_gemm_seconds(memo->profile, problem->scalar->size, problem->scalar->complex_type, threads,
                                  extent[0], extent[1], extent[2], width);
    double visible = first < all ? first : all, together = gemm + all;
    if (spec->lookahead > 0 && !memo->profile->one_node)
        together = (gemm > all ? gemm : all) + visible;
    *prediction = (struct hs_prediction){together + copy, all, gemm, copy, {movement[0], movement[1], movement[2]}};
    return status;
}
