/*
 * Reduce-scatter: the reduction phase of coll/allreduce/rabenseifner_traff.c; in the routing phase each level sends
 * what the ranks of the other groups own of the pieces that a member holds.
 *
 * Cost: reduction phase as the allreduce.  If all rounds halve, equal parts lie in the order of the reversed bits of
 * the ranks that hold them, and pass the levels again: log2 p more rounds of up to sqrt(p) parts, about 3 m/sqrt(p)
 * bytes in all.  For m <= b nothing but the parts of eliminated ranks moves.  Rabenseifner and Traeff (2004), Sections
 * 2 and 3.  Scratch: two vectors.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_reduce_scatter_rabenseifner_traff(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_best(shape);
    rt_build(builder, shape, HS_REDUCE_SCATTER, &plan);
}
