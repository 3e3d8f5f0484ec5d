/*
 * Allreduce on one node, over shared memory.  Up to b bytes, every rank puts its vector into its SHARED and sums all of
 * them itself: one round of signals, p m bytes read.  Longer vectors go chunk by chunk: every rank sums its part of
 * each chunk and copies the other parts out.  Both sum in the order of the ranks, ((0 + 1) + 2) + ..., and every rank
 * ends with the same bits.
 *
 * Cost per rank, with s chunks: up to b one signal, m bytes copied and (p-1) m summed; else s + 1 signals, (2 - 1/p) m
 * bytes copied and (1 - 1/p) m summed, of which the contributions need no copy (m bytes copied) when peers' IN can be
 * read.  The SHARED stage of Bayatpour et al., DPML (SC17), Section 4.1, with every rank a leader.
 *
 * with.contributors, for stages of other rows: only so many first ranks contribute (0: all); the others need no IN.
 */
#include "coll/pattern/shared_sum.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int some = shape->with.contributors;
    hs_emit_shared_sum(builder, shape, some > 0 && some < shape->size ? some : shape->size, -1);
}

HS_ALG(HS_ALLREDUCE, allreduce_shared, "shared", .build = build, .unfit = hs_unfit_shared,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_USES_THRESHOLD,
       .doc = "one node: every rank reduces its part (up to b: all) of what all have put into memory");
