/*
 * Broadcast, flat: the root sends the whole vector to every rank.
 *
 * Cost: (q - 1)(alpha + m beta). The messages are independent; only the root's port serialises them. Best for very few
 * ranks, and where only the latency of the network matters.
 */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank > 0) {
        hs_emit_recv(builder, 0, hs_out(0), shape->bytes, -1);
        return;
    }
    for (int peer = 1; peer < shape->size; peer++)
        hs_emit_send(builder, peer, hs_out(0), shape->bytes, -1);
}

HS_ALG(HS_BCAST, bcast_flat, "flat", .build = build, .doc = "the root sends to each rank: (q-1)(alpha + m beta)");
