/*
 * Broadcast, binary tree, pipelined: rank r passes every segment on to the ranks 2r + 1 and 2r + 2, one send at a time,
 * the children in turn, while it receives the next segment.
 *
 * Cost, rounds: 2(log2(q + 1) - 2 + s)(alpha + m/s beta) for s segments and full trees (q + 1 a power of two, q > 1),
 * and at most that with log2 rounded up otherwise.  Segments are longer than asked for when they would be too many.
 */
#include "coll/schedule/rows.h"

enum { CHILDREN = 2 };

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t segments = hs_segments(shape), first_child = CHILDREN * (int64_t)shape->rank + 1;
    int received = -1, received_before = -1, sent = -1;

    for (int64_t i = 0; i < segments; i++) {
        int64_t at = hs_part_equal(shape->bytes, shape->unit, segments, i);
        int64_t count = hs_part_equal(shape->bytes, shape->unit, segments, i + 1) - at;
        if (shape->rank > 0) {
            int receive = hs_emit_recv(builder, (shape->rank - 1) / CHILDREN, hs_out(at), count);
            hs_after(builder, receive, received_before); /* two are posted */
            received_before = received;
            received = receive;
        }
        for (int64_t child = first_child; child < first_child + CHILDREN && child < shape->size; child++) {
            int send = hs_emit_send(builder, (int)child, hs_out(at), count);
            hs_after(builder, send, received);
            hs_after(builder, send, sent); /* several would share the link and delay the first one */
            sent = send;
        }
    }
}

HS_ALG(HS_BCAST, bcast_binary_tree, "binary_tree", .build = build, .flags = HS_MANY_RANKS | HS_USES_SEGMENT,
       .doc = "binary tree pipelined in s segments: about 2(log2(q+1)-2+s)(alpha + m/s beta)");
