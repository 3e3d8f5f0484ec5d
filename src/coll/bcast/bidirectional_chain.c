/*
 * Broadcast, bidirectional chain: the first half of the vector is pipelined down the chain 0, 1, ..., q - 1, the second
 * half down the chain 0, q - 1, ..., 1. On a ring of links each link then carries half of the vector in each direction,
 * where a chain would load one direction only. A rank sends and receives the same bytes as in a chain.
 *
 * Cost for s segments: with a port for each direction, (q - 2 + s/2)(alpha + m/s beta); with one port per rank and even
 * q, as in a chain: (q - 2 + s)(alpha + m/s beta).
 */
#include "coll/schedule/rows.h"

/* The state of one direction: the steps of the last two receives and of the last send. */
struct direction {
    int from, to; /* the neighbours; -1 if there is none */
    int received, received_before, sent;
};

static void pass_segment(struct hs_builder *builder, struct direction *way, struct hs_span span)
{
    if (way->from >= 0) { /* up to two receives are posted */
        int receive = hs_emit_recv(builder, way->from, hs_out(span.at), span.count, way->received_before);
        way->received_before = way->received;
        way->received = receive;
    }
    if (way->to >= 0)
        hs_emit_send_next(builder, way->to, hs_out(span.at), span.count, way->received, &way->sent);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int rank = shape->rank, size = shape->size;
    int left = (rank + size - 1) % size, right = (rank + 1) % size; /* neighbours on the ring */
    struct direction up = {rank > 0 ? left : -1, right > 0 ? right : -1, -1, -1, -1};
    struct direction down = {rank > 0 ? right : -1, left > 0 ? left : -1, -1, -1, -1};
    int64_t segments = hs_segments(shape), half = (segments + 1) / 2, passed[2] = {0};
    int hops[2] = {rank, rank > 0 ? size - rank : 0};
    while (passed[0] < half || passed[1] < segments - half) {
        /* in the order in which segments arrive if the root sends one segment at a time, up and down in turn */
        int way =
            passed[1] < segments - half && (passed[0] == half || 2 * passed[1] + 1 + hops[1] < 2 * passed[0] + hops[0]);
        int64_t segment = passed[way]++ + (way ? half : 0);
        pass_segment(builder, way ? &down : &up, hs_span_equal(shape->bytes, shape->unit, segments, segment));
    }
}

HS_ALG(HS_BCAST, bcast_bidirectional_chain, "bidirectional_chain", .build = build, .flags = HS_USES_SEGMENT,
       .doc = "half of the segments down a chain, half down the opposite one: each link of a ring carries half of the "
              "vector in each direction");
