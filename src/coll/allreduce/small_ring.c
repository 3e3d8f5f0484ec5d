/*
 * Allreduce, small rings: the butterfly for the factor 2^n of p, then a ring for every odd prime factor r.  Everybody
 * in a ring gets the operands of all others before it reduces them in rank order: cuts of m'/r in r - 1 exchanges, or,
 * for m' <= b, whole pieces, which Bruck's allgather brings in ceil(log2 r) rounds.
 *
 * Cost of a ring: m' <= b: ceil(log2 r) alpha + (r-1)(m' beta + m' gamma); else (r - 1 + ceil(log2 r)) alpha +
 * (1 - 1/r)(2 m' beta + m' gamma), m' the piece that is left.  ceil(log2 p) rounds for m <= b and p = 2^n, 3 2^n, 9
 * 2^n. Rabenseifner and Traeff (2004), Section 3.4.  Scratch: 2 r pieces at most; not for large prime factors.
 *
 * Levels: n x EXCHANGE of 2, EXCHANGE of r for every factor r, ascending.
 */
#include "coll/rabenseifner_traff/rt.h"
#include "coll/schedule/builders.h"

void hs_build_allreduce_small_ring(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct rt_plan plan = rt_plan_small_ring(shape->size);
    rt_build(builder, shape, HS_ALLREDUCE, &plan);
}
