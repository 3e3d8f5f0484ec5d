/*
 * Allreduce, butterfly with overlapping 3-2 elimination: wherever the number of groups is odd (bit z of p is set), the
 * first three make a 3-2 step, which takes two rounds; the one of them that comes late from the step before is not
 * needed in the first of these, so nobody waits and the whole costs one round more than a butterfly.
 *
 * Cost, p' = 2^floor(log2 p) < p and p odd: m <= b: (1 + ceil(log2 p))(alpha + m beta) + ceil(log2 p) m gamma; if all
 * rounds halve 2 ceil(log2 p) alpha + (1.5 - 1/p')(2 m beta + m gamma); for p = 2^n q, q odd, 1 + 1/2^(n+1) stands for
 * 1.5.  Rabenseifner and Traeff (2004), Sections 3.1 and 3.2.
 *
 * Levels: floor(log2 p) x EXCHANGE of 2.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_allreduce_elimination_32(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_elimination_32(shape->size);
    rt_build(builder, shape, HS_ALLREDUCE, &plan);
}
