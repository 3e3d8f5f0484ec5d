/*
 * Allreduce, the combination: p = 2^n q1 ... qh is treated by the butterfly (2^n), rings for the small odd factors q1
 * ... q(h-1), and overlapping 3-2 elimination for what remains; h is where the cost (coll/rabenseifner_traff/choice.c)
 * is least for this p and m, so short vectors and small factors take rings, large factors elimination.
 *
 * Cost: the sum over the steps, see butterfly.c, small_ring.c, elimination_32.c; never
 * more than (1 + 1/2^(n+1))(2 m beta + m gamma) in bytes if all rounds halve, never more than ceil(log2 p) + 1 rounds
 * for m <= b.  Rabenseifner and Traeff (2004), Section 3.6.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_allreduce_rabenseifner_traff(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_best(shape);
    rt_build(builder, shape, HS_ALLREDUCE, &plan);
}
