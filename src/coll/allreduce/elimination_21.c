/*
 * Allreduce, 2-1 elimination: p' is the largest power of two up to p; of the first p - p' pairs of neighbours the right
 * one gives its vector to the left one before the first round and gets the result after the last one.  In between, the
 * hybrid butterfly.  The baseline that Rabenseifner and Traeff improve on.
 *
 * Cost: large m 2 (log2 p' + 1) alpha + 2 (2 - 1/p') m beta + (2 - 1/p') m gamma; m <= b: (log2 p' + 2)(alpha + m beta)
 * + (log2 p' + 1) m gamma.  Powers of two: the butterfly.  Rabenseifner and Traeff (2004), Sections 1 and 4.
 *
 * Levels: ELIMINATE (p - p' pairs), log2 p' x EXCHANGE of 2.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_allreduce_elimination_21(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_elimination_21(shape->size);
    rt_build(builder, shape, HS_ALLREDUCE, &plan);
}
