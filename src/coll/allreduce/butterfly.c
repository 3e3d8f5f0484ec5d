/*
 * Allreduce, hybrid butterfly, p = 2^n: in round z the partners at distance 2^z exchange halves of what they have, down
 * to pieces of at most b bytes, and whole pieces from there on; the halves come back in the reverse order.
 *
 * Cost: n (alpha + m beta + m gamma) for m <= b, 2 n alpha + (1 - 1/p)(2 m beta + m gamma) if all rounds halve, and
 * anything in between.  Rabenseifner and Traeff (2004), Section 2.
 *
 * Levels: n x EXCHANGE of 2.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_allreduce_butterfly(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_elimination_32(shape->size);
    rt_build(builder, shape, HS_ALLREDUCE, &plan);
}
