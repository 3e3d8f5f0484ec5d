/*
 * Allreduce, recursive doubling: in round i the ranks at distance 2^i exchange their sums.  When q is not a power of
 * two, the first q - 2^floor(log2 q) pairs of neighbours join beforehand, the lower rank acts for both, and sends the
 * result back at the end.  Only neighbouring ranges are joined and both partners compute left op right, so all ranks
 * end with the same bits.
 *
 * Cost: log2 q (alpha + m beta + m gamma) for powers of two, else two more messages and one more sum.  Scratch: one
 * vector.  Bienz, Olson and Gropp, Node-Aware Improvements to Allreduce (2019), Section II.
 */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t power = 1, bytes = shape->bytes;
    int rank = shape->rank, left = 0; /* reductions still to do; the last one ends in OUT, the one before in scratch */
    for (; 2 * power <= shape->size; left++)
        power *= 2;
    int pairs = (int)(shape->size - power), folded = rank < 2 * pairs;

    if (folded && rank % 2 == 1) {
        hs_emit_send(builder, rank - 1, hs_in(0), bytes, -1);
        hs_emit_recv(builder, rank - 1, hs_out(0), bytes, -1);
        return;
    }
    struct hs_ref sum = hs_in(0);
    int reduced = -1, sent = -1, me = folded ? rank / 2 : rank - pairs;
    left += folded;
    if (folded) {
        struct hs_ref dst = left % 2 ? hs_out(0) : hs_scratch(0);
        int receive = hs_emit_recv(builder, rank + 1, dst, bytes, -1);
        reduced = hs_emit_reduce(builder, dst, sum, dst, bytes, receive);
        sum = dst;
        left--;
    }
    for (int64_t bit = 1; bit < power; bit *= 2, left--) {
        int other = me ^ (int)bit, peer = other < pairs ? 2 * other : other + pairs;
        struct hs_ref dst = left % 2 ? hs_out(0) : hs_scratch(0);
        int send = hs_emit_send(builder, peer, sum, bytes, reduced);
        int receive = hs_emit_recv(builder, peer, dst, bytes, reduced);
        hs_after(builder, receive, sent); /* which has read dst, in the round before */
        reduced = other > me ? hs_emit_reduce(builder, dst, sum, dst, bytes, receive)
                             : hs_emit_reduce(builder, dst, dst, sum, bytes, receive);
        sent = send;
        sum = dst;
    }
    if (folded)
        hs_emit_send(builder, rank + 1, hs_out(0), bytes, reduced);
}

HS_ALG(
    HS_ALLREDUCE, allreduce_recursive_doubling, "recursive_doubling", .build = build, .flags = HS_SUMS_IN_ORDER,
    .doc = "pairs at doubling distance: log2 q (alpha + m beta + m gamma); Bienz, Olson and Gropp (2019), Section II");
