/* The combination of Section 3.6: which steps for which factor of the number of ranks. */
#include "coll/rabenseifner_traff/rt.h"

/*
 * The machine that the choice assumes, in Hockney's model: seconds per message, per byte, per byte reduced.  Constants,
 * so that all ranks choose alike; the default b is alpha / (beta + gamma) of the same machine (build.c).
 */
static const double per_message = 1e-6, per_byte = 1.2e-10, per_sum = 2e-10;

static int log2_up(int n)
{
    int log = 0;
    while (log < 31 && n > 1 << log)
        log++;
    return log;
}

static double messages(double number, double bytes)
{
    return number * (per_message + bytes * per_byte);
}

double rt_cost(const struct rt_plan *plan, const struct hs_shape *shape)
{
    int64_t piece = shape->bytes;
    double cost = 0;
    int late = 0; /* the time for an elimination has been paid: all later ones fit into it (Sections 3.2 and 3.3) */

    for (int z = 0; z < plan->levels; z++) {
        const struct rt_level *level = &plan->level[z];
        int ways = level->ways, cut = level->kind == RT_EXCHANGE && rt_cuts(shape, piece, ways);
        int64_t part = cut ? hs_part_equal(piece, shape->unit, ways, 1) : piece;
        if (!late && (level->kind == RT_ELIMINATE || (ways == 2 && level->groups % 2))) {
            cost += 2 * messages(1, (double)part) + (double)part * per_sum;
            late = 1;
        }
        if (level->kind == RT_ELIMINATE)
            continue;
        cost += (double)(ways - 1) * (double)part * (per_byte + per_sum);
        cost += messages(cut ? ways - 1 : log2_up(ways), 0);
        if (cut)
            cost += messages(log2_up(ways), 0) + (double)(ways - 1) * (double)part * per_byte;
        piece = part;
    }
    return cost;
}

struct rt_plan rt_plan_best(const struct hs_shape *shape)
{
    struct rt_plan rings, best = rt_plan_elimination_32(shape->size);
    double least = rt_cost(&best, shape);

    rt_begin(&rings, shape->size);
    rt_halve_while_even(&rings);
    while (rings.groups > 1) {
        rt_exchange(&rings, rt_odd_factor(rings.groups));
        struct rt_plan plan = rings;
        rt_halve(&plan);
        double cost = rt_cost(&plan, shape);
        if (cost < least) {
            least = cost;
            best = plan;
        }
    }
    return best;
}
