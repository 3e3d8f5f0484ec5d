/*
 * Allreduce, recursive doubling: in round i the ranks at distance 2^i exchange their sums. If q is not a power of two,
 * the ranks of the first q - 2^floor(log2 q) pairs of neighbours are combined first: the lower rank acts for both, and
 * sends the result to the other at the end. Only adjacent ranges are combined, and both partners compute left op right,
 * so all ranks get the same bits.
 *
 * Cost: floor(log2 q)(alpha + m beta + m gamma); two more messages and one more sum unless q is a power of two. Scratch
 * memory: one vector. Bienz, Olson and Gropp, Node-Aware Improvements to Allreduce (2019), Section II.
 */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t power = 1, bytes = shape->bytes;
    /* left: number of remaining reductions, which write to OUT and SCRATCH in turn, the last to OUT */
    int rank = shape->rank, left = 0;
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
        hs_after(builder, receive, sent); /* the previous round's SEND, which reads dst */
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
