/*
 * Allreduce, butterfly with non-overlapping elimination: after the butterfly rounds of the even part of p, one 3-2 step
 * among the first three groups and, while that takes its second round, 2-1 steps among the pairs, which send the half
 * that the round before has left them; a power of two remains.
 *
 * Cost: as for the overlapping protocol (elimination_32.c).  Rabenseifner and Traeff (2004), Section 3.3.
 *
 * Levels, p = 2^n q, q odd, q' the largest power of two below q: n x EXCHANGE of 2, EXCHANGE of 2 (with the 3-2 step),
 * ELIMINATE ((q - 1 - q')/2 pairs behind the first group), log2 q' - 1 x EXCHANGE of 2.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_allreduce_elimination_32_21(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_elimination_32_21(shape->size);
    rt_build(builder, shape, HS_ALLREDUCE, &plan);
}
