/*
 * Broadcast on one node: the ranks copy from the root's own memory. Ranks must be able to read each other's memory.
 *
 * Cost: one copy of m bytes, one signal of each rank.
 */
#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

/* Bytes of a piece, so that no step takes long; longer if there would be more than MOST_DIRECT_PIECES. */
enum { DIRECT_PIECE = 1024 * 1024, MOST_DIRECT_PIECES = 4096 };

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == shape->root) {
        hs_expose_slot(builder, HS_OUT);
        hs_emit_signal(builder, 1, -1);
        hs_emit_wait_all(builder, shape, 1, -1);
        return;
    }
    int64_t pieces =
        hs_min(hs_min((shape->bytes - 1) / DIRECT_PIECE + 1, MOST_DIRECT_PIECES), shape->bytes / shape->unit);
    int last = hs_emit_wait(builder, shape->root, 1);
    for (int64_t i = 0; i < pieces; i++) {
        struct hs_span span = hs_span_equal(shape->bytes, shape->unit, pieces, i);
        last = hs_emit_copy(builder, hs_out(span.at), hs_of(shape->root, hs_out(span.at)), span.count, last);
    }
    hs_emit_signal(builder, 1, last);
}

HS_ALG(HS_BCAST, bcast_direct, "direct", .build = build, .unfit = hs_unfit_spread,
       .flags = HS_TRUE_ROOT | HS_KNOWS_NODES,
       .doc = "one node: the ranks copy from the root's own memory: alpha + m beta");
