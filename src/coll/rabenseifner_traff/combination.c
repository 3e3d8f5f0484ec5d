/*
 * The combination of Section 3.6. For p = 2^n q1 ... qh a plan consists of the butterfly for 2^n, rings for the first
 * odd prime factors, and one ring, 3-2 elimination or 2-1 elimination for the remaining factors together. The plan and
 * b are the cheapest in Hockney's model. Few combinations are priced: 3 plans per odd prime factor, each with one b per
 * level.
 */
#include "coll/rabenseifner_traff/rt.h"

#include <math.h>

/* The built-in profile's prices between nodes, for builders whose caller has no profile. */
static const struct hs_prices built_in = {.alpha = {1e-6}, .beta = {1.2e-10}, .gamma = 2e-10, .copy = 1.5e-10};

static double message(const struct hs_prices *prices, int64_t bytes)
{
    int is_long = prices->eager > 0 && bytes > prices->eager;
    return prices->alpha[is_long] + (double)bytes * prices->beta[is_long];
}

/* The seconds of Bruck's allgather of `size` blocks of `bytes` bytes. */
static double gather(const struct hs_prices *prices, int size, int64_t bytes)
{
    double cost = 0;
    for (int have = 1; have < size;) {
        int blocks = have < size - have ? have : size - have;
        cost += message(prices, blocks * bytes);
        have += blocks;
    }
    return cost;
}

/* The seconds of a level's exchange of the piece in both phases. part: bytes that a member sends to another. */
static double exchange(const struct hs_prices *prices, int ways, int cut, int64_t piece, int64_t part)
{
    double sums = (ways - 1) * (double)part * prices->gamma;
    double direct = (ways - 1) * message(prices, part), copies = (double)piece * prices->copy;
    if (ways <= 3)
        return sums + (cut ? 2 * direct : direct);
    return sums + gather(prices, ways, part) + copies + (cut ? direct : 0);
}

/* The seconds of an allreduce by the plan. */
static double cost_of(const struct rt_plan *plan, const struct hs_shape *shape, const struct hs_prices *prices)
{
    int64_t piece = shape->bytes;
    double cost = 0;
    /* true if an elimination is included in the cost; all later ones overlap with it (Sections 3.2, 3.3) */
    int late = 0;

    for (int z = 0; z < plan->levels; z++) {
        const struct rt_level *level = &plan->level[z];
        int eliminates = level->kind == RT_ELIMINATE, cut = !eliminates && rt_cuts(shape, piece, level->ways);
        int64_t part = cut ? hs_part_equal(piece, shape->unit, level->ways, 1) : piece;
        if (!late && (eliminates || (level->ways == 2 && level->groups % 2))) {
            cost += 2 * message(prices, part) + (double)part * prices->gamma;
            late = 1;
        }
        if (!eliminates)
            cost += exchange(prices, level->ways, cut, piece, part);
        piece = part;
    }
    return cost;
}

/*
 * The b with which the plan cuts the vector on its first `cuts` levels of exchange, preferably a power of two; 0 if the
 * vector is too short for so many cuts, or the plan has fewer such levels.
 */
static int64_t threshold_of(const struct rt_plan *plan, const struct hs_shape *shape, int cuts)
{
    struct hs_shape whole = *shape;
    int64_t longest = shape->bytes, shortest = shape->bytes, b = 1;
    whole.with.threshold = 1;
    for (int z = 0; z < plan->levels; z++) {
        const struct rt_level *level = &plan->level[z];
        if (level->kind != RT_EXCHANGE)
            continue;
        if (cuts-- == 0) {
            while (b < longest)
                b *= 2;
            return z == 0 || b < shortest ? b : longest;
        }
        if (!rt_cuts(&whole, longest, level->ways))
            return 0;
        int64_t elements = shortest / shape->unit;
        shortest = elements / level->ways * shape->unit;
        longest = hs_part_equal(longest, shape->unit, level->ways, 1);
    }
    return cuts == 0;
}

/* The cheapest parameters so far. */
struct cheapest {
    const struct hs_shape *shape;
    const struct hs_prices *prices;
    struct hs_parameters with;
    double seconds;
};

/* Prices parameters, with every useful b if with.threshold is 0. Of equally cheap parameters the first are kept. */
static void try_plan(struct cheapest *cheapest, struct hs_parameters with)
{
    struct hs_shape shape = *cheapest->shape;
    struct rt_plan plan = {.groups = shape.size};
    int64_t b = with.threshold;
    shape.with = with;
    rt_combine(&plan, &shape);
    for (int cuts = 0; with.threshold || (b = threshold_of(&plan, &shape, cuts)) > 0; cuts++) {
        shape.with.threshold = b;
        double seconds = cost_of(&plan, &shape, cheapest->prices);
        if (seconds < cheapest->seconds * (1 - 1e-9)) {
            cheapest->seconds = seconds;
            cheapest->with = with;
            cheapest->with.threshold = b;
        }
        if (with.threshold)
            return;
    }
}

void rt_complete(const struct hs_shape *shape, const struct hs_prices *prices, struct hs_parameters *with)
{
    static const enum hs_rest rests[] = {HS_REST_32, HS_REST_21, HS_REST_RING};
    struct cheapest cheapest = {shape, prices ? prices : &built_in, *with, HUGE_VAL};
    int odd = shape->size, product = 1;
    if (shape->bytes == 0 || shape->size == 1)
        return;
    while (odd % 2 == 0)
        odd /= 2;
    if (odd == 1)
        try_plan(&cheapest, *with);
    for (; product < odd; product *= rt_odd_factor(odd / product)) {
        struct hs_parameters mine = *with;
        mine.rings = with->rings ? with->rings : product;
        for (int i = 0; i < 3; i++) {
            mine.rest = with->rest ? with->rest : rests[i];
            try_plan(&cheapest, mine);
        }
    }
    *with = cheapest.with;
}
