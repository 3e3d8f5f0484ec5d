/*
 * The rows of Rabenseifner and Traeff (2004): the levels that each of them uses for p ranks.
 *
 * Costs of an allreduce. Pieces of up to b bytes are exchanged undivided; "halved" means that every round halves the
 * vector; p = 2^n q with q odd; p' is the largest power of two <= p.
 *
 *   butterfly           q = 1.
 *                       m <= b: n (alpha + m beta + m gamma)
 *                       halved: 2 n alpha + (1 - 1/p)(2 m beta + m gamma)
 *   elimination_21      The paper's baseline.
 *                       m <= b: (log2 p' + 2)(alpha + m beta) + (log2 p' + 1) m gamma
 *                       halved: 2 (log2 p' + 1) alpha + 2 (2 - 1/p') m beta + (2 - 1/p') m gamma
 *   elimination_32      Only one round more than a butterfly, since the delays of all 3-2 steps overlap.
 *                       m <= b: (1 + ceil(log2 p))(alpha + m beta) + ceil(log2 p) m gamma
 *                       halved, p odd: 2 ceil(log2 p) alpha + (1.5 - 1/p')(2 m beta + m gamma)
 *                       halved, p even: with 1 + 1/2^(n+1) in place of 1.5
 *   elimination_32_21   As elimination_32.
 *   small_ring          The butterfly, and for each odd factor r of p, with m' bytes left:
 *                       m' <= b: ceil(log2 r) alpha + (r - 1)(m' beta + m' gamma)
 *                       else: (r - 1 + ceil(log2 r)) alpha + (1 - 1/r)(2 m' beta + m' gamma)
 *                       Scratch: at most 2 r pieces. Not for large prime factors.
 *   rabenseifner_traff  m <= b: ceil(log2 p) + 1 rounds
 *                       halved: at most (1 + 1/2^(n+1))(2 m beta + m gamma)
 *
 * The reduction costs as much as the allreduce, but its routing phase sends pieces only towards the root's group: the
 * root receives (1 - 1/p) m bytes if halved; for m <= b none, or m bytes if an elimination made it inactive. After the
 * reduction phase of a reduce-scatter equal parts are, if p is a power of two, in bit-reversed order of ranks; the
 * routing phase reorders them in log2 p more rounds of up to sqrt(p) parts, about 3 m/sqrt(p) bytes in total. Scratch
 * memory of a reduction (one vector less at the root) and of a reduce-scatter: two vectors if halved, up to three with
 * rings, at least three for m <= b.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/rows.h"

/* 2-1 elimination in neighbouring pairs, after the first `skip` groups, that leaves a power of two. */
static void eliminate_to_power(struct rt_plan *plan, int skip)
{
    int power = 1;
    while (power <= plan->groups / 2)
        power *= 2;
    rt_eliminate(plan, skip, plan->groups - power);
}

int rt_odd_factor(int number)
{
    for (int factor = 3; factor <= number / factor; factor += 2)
        if (number % factor == 0)
            return factor;
    return number;
}

void rt_combine(struct rt_plan *plan, const struct hs_shape *shape)
{
    int product = 1, factor;
    rt_halve_while_even(plan);
    while ((factor = rt_odd_factor(plan->groups)) > 1 && factor <= shape->with.rings / product) {
        product *= factor;
        rt_exchange(plan, factor);
    }
    if (shape->with.rest == HS_REST_RING)
        rt_exchange(plan, plan->groups);
    else if (shape->with.rest == HS_REST_21)
        eliminate_to_power(plan, 0);
    rt_halve(plan);
}

enum { COMBINATION, ELIMINATION_21, ELIMINATION_32, ELIMINATION_32_21, SMALL_RING };

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = {.groups = shape->size};
    struct hs_shape mine = *shape;
    switch (builder->alg->variant) {
    case COMBINATION:
        rt_complete(shape, NULL, &mine.with);
        rt_combine(&plan, &mine);
        break;
    case ELIMINATION_21: /* Sections 1 and 4 */
        eliminate_to_power(&plan, 0);
        break;
    case ELIMINATION_32: /* a 3-2 step on each level with an odd number of groups; for a power of two the butterfly */
        break;
    case ELIMINATION_32_21: /* one level with a 3-2 step; groups that exchange in pairs on it can do a 2-1 step, too */
        rt_halve_while_even(&plan);
        rt_exchange(&plan, 2);
        eliminate_to_power(&plan, 1);
        break;
    case SMALL_RING: /* a ring for every odd prime factor, ascending */
        rt_halve_while_even(&plan);
        while (plan.groups > 1)
            rt_exchange(&plan, rt_odd_factor(plan.groups));
    }
    rt_halve(&plan);
    rt_build(builder, &mine, &plan);
}

HS_ALG(
    HS_REDUCE_TO, reduce_rabenseifner_traff, "rabenseifner_traff", .build = build, .variant = COMBINATION,
    .flags = HS_TRUE_ROOT | HS_SUMS_IN_ORDER | HS_USES_THRESHOLD | HS_USES_RINGS, .complete = rt_complete,
    .doc =
        "reduction phase as in allreduce, routing phase to the root; Rabenseifner and Traeff (2004), Sections 2 and 3");
HS_ALG(HS_ALLREDUCE, allreduce_elimination_21, "elimination_21", .build = build, .variant = ELIMINATION_21,
       .flags = HS_SUMS_IN_ORDER | HS_USES_THRESHOLD,
       .doc = "2-1 elimination down to a power of two, then the hybrid butterfly: the baseline of Rabenseifner and "
              "Traeff (2004)");
HS_ALG(
    HS_ALLREDUCE, allreduce_butterfly, "butterfly", .build = build, .variant = ELIMINATION_32, .unfit = hs_unfit_power,
    .flags = HS_SUMS_IN_ORDER | HS_USES_THRESHOLD,
    .doc = "hybrid butterfly, halving down to b: log2 q to 2 log2 q rounds; Rabenseifner and Traeff (2004), Section 2");
HS_ALG(HS_ALLREDUCE, allreduce_elimination_32, "elimination_32", .build = build, .variant = ELIMINATION_32,
       .flags = HS_SUMS_IN_ORDER | HS_USES_THRESHOLD,
       .doc = "butterfly with overlapping 3-2 elimination; Rabenseifner and Traeff (2004), Sections 3.1 and 3.2");
HS_ALG(HS_ALLREDUCE, allreduce_elimination_32_21, "elimination_32_21", .build = build, .variant = ELIMINATION_32_21,
       .flags = HS_SUMS_IN_ORDER | HS_USES_THRESHOLD,
       .doc = "butterfly with non-overlapping 3-2 and 2-1 elimination; Rabenseifner and Traeff (2004), Section 3.3");
HS_ALG(HS_ALLREDUCE, allreduce_small_ring, "small_ring", .build = build, .variant = SMALL_RING,
       .flags = HS_SUMS_IN_ORDER | HS_USES_THRESHOLD,
       .doc = "butterfly with small rings for the odd factors; Rabenseifner and Traeff (2004), Section 3.4");
HS_ALG(HS_ALLREDUCE, allreduce_rabenseifner_traff, "rabenseifner_traff", .build = build, .variant = COMBINATION,
       .flags = HS_SUMS_IN_ORDER | HS_BY_LENGTH | HS_USES_THRESHOLD | HS_USES_RINGS, .complete = rt_complete,
       .doc = "p = 2^n q1 ... qh: butterfly, rings, elimination or one ring, by the profile; Rabenseifner and Traeff "
              "(2004), Section 3.6");
HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_rabenseifner_traff, "rabenseifner_traff", .build = build,
       .variant = COMBINATION, .flags = HS_SUMS_IN_ORDER | HS_USES_THRESHOLD | HS_USES_RINGS, .complete = rt_complete,
       .doc = "reduction phase as in allreduce, routing phase to the owners; Rabenseifner and Traeff (2004), Sections "
              "2 and 3");
