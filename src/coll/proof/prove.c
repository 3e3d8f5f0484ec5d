#include "coll/proof/prove_parts.h"

#include <string.h>

static const int large[] = {96, 100, 127, 128, 255, 256, 1000};
const struct hs_prove_range hs_prove_everything = {
    .ranks = 64, .more = large, .mores = sizeof large / sizeof *large, .nodes = 40, .per_node = 16};

struct proof {
    const struct hs_prove_range *range;
    const struct hs_allocator *memory;
    struct hs_prove_row *row;
    uint64_t seed; /* seed of the row's configurations */
    int visited;   /* true if a configuration of the current point of the range has fit the row */
};

static int is_rooted(const struct hs_alg *alg)
{
    return alg->collective == HS_BCAST || alg->collective == HS_REDUCE_TO;
}

/* A hash (FNV-1a) of `seed`, the collective and the row's name, but not of the row's place in the table. */
static uint64_t seed_of(const struct hs_alg *alg, uint64_t seed)
{
    uint64_t hash = 0xcbf29ce484222325u + seed + (uint64_t)alg->collective;
    for (const char *c = alg->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

/* Verifies a drawn configuration if it fits. Errors except HSUMMA_ERR_MEMORY are recorded in proof->row. */
static hsumma_status judge(struct proof *proof, const struct hs_draw *draw)
{
    struct hs_prove_row *row = proof->row;
    struct hs_verify_report report;
    if (hs_alg_unfit(row->alg, &draw->shape))
        return HSUMMA_OK;
    hsumma_status status = hs_verify(row->alg, &draw->shape, &draw->options, proof->memory, &report);
    if (status == HSUMMA_ERR_MEMORY)
        return status;
    proof->visited = 1;
    row->runs++;
    row->not_built += status == HSUMMA_ERR_UNSUPPORTED;
    if (row->largest < draw->shape.size)
        row->largest = draw->shape.size;
    if (status && row->failures++ == 0) {
        hs_draw_describe(draw, row->alg, row->text, sizeof row->text - sizeof report.text);
        strcat(row->text, report.text);
    }
    return HSUMMA_OK;
}

/* Draws one configuration and verifies it; nodes is 0 for HS_ALONE. */
static hsumma_status one(struct proof *proof, int size, int root, int trial, enum hs_placement placement, int nodes,
                         int shared)
{
    struct hs_draw draw = {.mix = proof->seed + (uint64_t)nodes * 0x632be59bd9b4e019u,
                           .trial = trial,
                           .placement = placement,
                           .nodes = nodes,
                           .shared = shared,
                           .shape = {.size = size, .root = root}};
    hsumma_status status = hs_draw(&draw, proof->row->alg, proof->memory);
    if (!status)
        status = judge(proof, &draw);
    hs_draw_end(&draw, proof->memory);
    return status;
}

/*
 * enter begins a point of the range, leave ends it. If no configuration drawn for the point has fit a row that uses the
 * topology, leave tries several with nodes of equal size and shared memory, until one fits.
 */
static void enter(struct proof *proof)
{
    proof->visited = 0;
    proof->row->points++;
}

static hsumma_status leave(struct proof *proof, int size, int root, int trial, int nodes)
{
    hsumma_status status = HSUMMA_OK;
    int tries = proof->row->alg->flags & HS_USES_TOPOLOGY ? 8 : 0;
    for (int t = 0; t < tries && !proof->visited && !status; t++)
        status = one(proof, size, root, trial + t, HS_BLOCKS, nodes, 1);
    proof->row->unfit += !proof->visited;
    return status;
}

/* Proves the row for one root of a group. Small groups and, in groups of up to 64 ranks, root 0 get more trials. */
static hsumma_status one_root(struct proof *proof, int size, int root)
{
    unsigned flags = proof->row->alg->flags;
    int trials = size <= 8 ? 9 : root > 0 || size > 64 ? 1 : 8;
    hsumma_status status = HSUMMA_OK;

    enter(proof);
    for (int t = 0; t < trials && !status; t++)
        if (!(flags & HS_USES_TOPOLOGY)) {
            status = one(proof, size, root, t, HS_ALONE, 0, 0);
        } else if (t == 0 && trials > 1) {
            status = one(proof, size, root, t, HS_ALONE, 0, 0);
        } else {
            int fewest = (size + 63) / 64, turn = t + root + size;
            int nodes = turn % 3 ? fewest : fewest + turn * 7 % (size - fewest + 1);
            enum hs_placement placement = (enum hs_placement)(HS_BLOCKS + turn / 3 % (HS_PLACEMENTS - HS_BLOCKS));
            status = one(proof, size, root, t, placement, nodes, turn % 4 != 0);
        }
    return status ? status : leave(proof, size, root, trials, 1);
}

static hsumma_status one_size(struct proof *proof, int size, int every_root)
{
    int step = every_root || size < 4 ? 1 : 0;
    const int few[] = {0, 1, size / 2, size - 1};
    int roots = !is_rooted(proof->row->alg) ? 1 : step ? size : 4;
    hsumma_status status = HSUMMA_OK;
    for (int r = 0; r < roots && !status; r++)
        status = one_root(proof, size, step ? r : few[r]);
    return status;
}

/*
 * Proves the row on a grid of `nodes` nodes of `per_node` ranks: without and with shared memory and, on every other
 * grid, also with a round-robin or uneven placement. A grid of more than 96 ranks gets only one of these runs, mostly
 * with shared memory.
 */
static hsumma_status one_grid(struct proof *proof, int nodes, int per_node)
{
    int size = nodes * per_node, turn = 3 * nodes + per_node;
    int root = is_rooted(proof->row->alg) ? (nodes * 31 + per_node * 17) % size : 0;
    int few = size > 96, odd = turn % 2, scattered = few ? turn % 3 == 0 : odd;
    enum hs_placement placement = turn % 4 == 1 ? HS_ROUND_ROBIN : HS_UNEVEN;
    hsumma_status status = HSUMMA_OK;

    enter(proof);
    if (!few)
        status = one(proof, size, root, turn, HS_BLOCKS, nodes, 0);
    if (!status && !(few && scattered))
        status = one(proof, size, root, turn + 1, HS_BLOCKS, nodes, !few || turn % 4 != 0);
    if (!status && scattered)
        status = one(proof, size, root, turn + 2, placement, nodes, turn % 8 < 5);
    return status ? status : leave(proof, size, root, turn + 3, nodes);
}

static hsumma_status prove_row(struct proof *proof)
{
    const struct hs_prove_range *range = proof->range;
    int lent = (proof->row->alg->flags & HS_ON_HOST) != 0; /* the row's list is that of another row, which is proved
                                                              separately */
    int nodes = lent && range->nodes > 8 ? 8 : range->nodes;
    hsumma_status status = HSUMMA_OK;
    proof->seed = seed_of(proof->row->alg, range->seed);
    for (int p = 1; p <= range->ranks && !status; p++)
        status = one_size(proof, p, 1);
    for (int i = 0; i < range->mores && !lent && !status; i++)
        status = one_size(proof, range->more[i], 0);
    if (proof->row->alg->flags & HS_USES_TOPOLOGY)
        for (int n = 1; n <= nodes && !status; n++)
            for (int ppn = 1; ppn <= range->per_node && !status; ppn++)
                status = one_grid(proof, n, ppn);
    return status;
}

static int in_range(const struct hs_prove_range *range, const struct hs_alg *alg)
{
    return range->alg ? range->alg == alg : !range->collectives || range->collectives >> alg->collective & 1;
}

hsumma_status hs_prove(const struct hs_prove_range *range, hs_prove_progress *progress, void *state,
                       const struct hs_allocator *memory, struct hs_prove_report *report)
{
    const struct hs_alg *alg;
    hsumma_status status = HSUMMA_OK;
    *report = (struct hs_prove_report){0};
    for (int i = 0; (alg = range->alg && i == 0 ? range->alg : hs_alg_at(range->alg ? -1 : i)) && !status; i++) {
        if (!in_range(range, alg))
            continue;
        if (alg->flags & HS_BY_MPI) {
            report->foreign++;
            continue;
        }
        struct hs_prove_row row = {.alg = alg};
        struct proof proof = {.range = range, .memory = memory, .row = &row};
        status = prove_row(&proof);
        report->rows++;
        report->runs += row.runs;
        report->failures += row.failures;
        report->not_built += row.not_built;
        if (row.failures && !report->text[0])
            memcpy(report->text, row.text, sizeof report->text);
        if (progress)
            progress(state, &row);
    }
    return status ? status : report->failures ? HSUMMA_ERR_INTERNAL : HSUMMA_OK;
}
