/*
 * Broadcast, pipelined in segments down a tree: rank r forwards every segment to ranks d r + 1 .. d r + d, one send at
 * a time, while it receives the next one. Segments are longer than requested if there would be more than 4096.
 *
 * chain, d = 1: all links carry different segments at the same time. Cost for s segments:
 * (q - 2 + s)(alpha + m/s beta); the best s is sqrt((q - 2) m beta / alpha). This is the pipelined broadcast of van de
 * Geijn and Watts, SUMMA (1997).
 *
 * binary_tree, d = 2. Cost: 2(log2(q + 1) - 2 + s)(alpha + m/s beta) for full trees (q + 1 a power of two, q > 1); for
 * other q at most that with log2 rounded up.
 */
#include "coll/schedule/rows.h"

enum { CHAIN = 1, BINARY_TREE = 2 }; /* number of children of a rank */

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int children = builder->alg->variant, received = -1, received_before = -1, sent = -1;
    int64_t segments = hs_segments(shape), first_child = children * (int64_t)shape->rank + 1;

    for (int64_t i = 0; i < segments; i++) {
        struct hs_span span = hs_span_equal(shape->bytes, shape->unit, segments, i);
        struct hs_ref segment = hs_out(span.at);
        if (shape->rank > 0) { /* up to two receives are posted */
            int receive = hs_emit_recv(builder, (shape->rank - 1) / children, segment, span.count, received_before);
            received_before = received;
            received = receive;
        }
        /* One send at a time: concurrent ones would share the link and delay the first child. */
        for (int64_t child = first_child; child < first_child + children && child < shape->size; child++)
            hs_emit_send_next(builder, (int)child, segment, span.count, received, &sent);
    }
}

HS_ALG(HS_BCAST, bcast_chain, "chain", .build = build, .variant = CHAIN, .flags = HS_USES_SEGMENT,
       .doc = "chain pipelined in s segments: (q-2+s)(alpha + m/s beta); van de Geijn and Watts, SUMMA (1997)");
HS_ALG(HS_BCAST, bcast_binary_tree, "binary_tree", .build = build, .variant = BINARY_TREE, .flags = HS_USES_SEGMENT,
       .doc = "binary tree pipelined in s segments: about 2(log2(q+1)-2+s)(alpha + m/s beta)");
