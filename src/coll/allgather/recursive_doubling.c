/*
 * Allgather, recursive doubling: in round k the ranks at distance 2^k exchange all parts that they have, which are
 * adjacent in OUT. Powers of two only; parts may differ in length and may be empty.
 *
 * Cost: log2 q alpha + (1 - 1/q) m beta for equal parts. Thakur, Rabenseifner and Gropp, Optimization of Collective
 * Communication Operations in MPICH (2005).
 */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int rank = shape->rank, sent = -1, received = -1;
    int copied = hs_emit_copy(builder, hs_out(hs_part_at(shape, rank)), hs_in(0), hs_part_bytes(shape, rank), -1);

    for (int span = 1; span < shape->size; span *= 2) {
        int mine = rank & ~(span - 1), other = mine ^ span;
        int64_t at = hs_part_at(shape, mine), to = hs_part_at(shape, other);
        int send = hs_emit_send(builder, rank ^ span, span == 1 ? hs_in(0) : hs_out(at),
                                hs_part_at(shape, mine + span) - at, span > 1 ? copied : -1);
        hs_after(builder, send, sent); /* `sent` depends on the RECVs of all rounds before the previous one */
        hs_after(builder, send, received);
        sent = send;
        received = hs_emit_recv(builder, rank ^ span, hs_out(to), hs_part_at(shape, other + span) - to, -1);
    }
}

HS_ALG(HS_ALLGATHER, allgather_recursive_doubling, "recursive_doubling", .build = build, .unfit = hs_unfit_power,
       .doc = "pairs at doubling distance: log2 q alpha + (1 - 1/q) m beta");
