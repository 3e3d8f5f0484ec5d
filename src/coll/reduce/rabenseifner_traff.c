/*
 * Reduction to a root: the reduction phase of coll/allreduce/rabenseifner_traff.c; in the routing phase each level
 * sends the pieces only towards the group that the root belongs to.  The bracketing does not depend on the root.
 *
 * Cost: as the allreduce; the root receives (1 - 1/p) m in the routing phase if all rounds halve, and nothing for m <=
 * b. Rabenseifner and Traeff (2004), Sections 2 and 3.  Scratch: two vectors.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_reduce_rabenseifner_traff(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_best(shape);
    rt_build(builder, shape, HS_REDUCE_TO, &plan);
}
