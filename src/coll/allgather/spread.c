/*
 * Allgather on one node: every rank copies its part to its OUT and the other parts out of the OUT of their ranks: the
 * second half of allreduce "spread".  Needs that ranks can read each other's memory.
 *
 * Cost per rank: q copies, m bytes copied, 2 signals.
 */
#include "coll/pattern/rounds.h"
#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int size = shape->size, me = shape->rank;
    int64_t own = hs_part_at(shape, me);
    int copy = hs_emit_copy(builder, hs_out(own), hs_in(0), hs_part_at(shape, me + 1) - own);
    hs_expose(builder);
    int signal = hs_emit_signal(builder, 1);
    hs_after(builder, signal, copy);
    int ready = hs_emit_wait_all(builder, shape, 1, signal), first = builder->list.steps;
    for (int i = 1; i < size; i++) { /* beginning behind the own rank: not all at the same one */
        int rank = (me + i) % size;
        int64_t at = hs_part_at(shape, rank);
        int taken = hs_emit_copy(builder, hs_out(at), hs_of(rank, hs_out(at)), hs_part_at(shape, rank + 1) - at);
        hs_after(builder, taken, ready);
    }
    int done = hs_emit_join_copies(builder, first, -1), last = hs_emit_signal(builder, 2);
    hs_after(builder, last, signal);
    hs_after(builder, last, done);
    hs_emit_wait_all(builder, shape, 2, last); /* nobody reads OUT any longer */
}

HS_ALG(HS_ALLGATHER, allgather_spread, "spread", .build = build, .unfit = hs_unfit_spread,
       .flags = HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: all copy the parts of the others from where they are");
