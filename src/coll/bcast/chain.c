/*
 * Broadcast, chain: every rank passes the vector on to the next one, in s segments of equal length, so that all links
 * carry different segments at the same time.
 *
 * Cost: (q - 2 + s)(alpha + m/s beta).  van de Geijn and Watts, SUMMA (1997), the pipelined broadcast.  The best s is
 * sqrt((q - 2) m beta / alpha).
 */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t segments = hs_segments(shape);
    int received = -1, received_before = -1, sent = -1;

    for (int64_t i = 0; i < segments; i++) {
        int64_t at = hs_part_equal(shape->bytes, shape->unit, segments, i);
        int64_t count = hs_part_equal(shape->bytes, shape->unit, segments, i + 1) - at;
        if (shape->rank > 0) {
            int receive = hs_emit_recv(builder, shape->rank - 1, hs_out(at), count);
            hs_after(builder, receive, received_before); /* two are posted */
            received_before = received;
            received = receive;
        }
        if (shape->rank + 1 < shape->size) {
            int send = hs_emit_send(builder, shape->rank + 1, hs_out(at), count);
            hs_after(builder, send, received);
            hs_after(builder, send,
                     sent); /* one segment under way: several would share the link and pipeline nothing */
            sent = send;
        }
    }
}

HS_ALG(HS_BCAST, bcast_chain, "chain", .build = build, .flags = HS_USES_SEGMENT,
       .doc = "chain pipelined in s segments: (q-2+s)(alpha + m/s beta); van de Geijn and Watts, SUMMA (1997)");
