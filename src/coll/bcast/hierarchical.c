/*
 * Broadcast, hierarchical: among one leader per node (in the root's node the root), then inside every node. If the
 * vector is cut into segments, each segment is broadcast inside the nodes while the next ones are sent between nodes.
 *
 * Cost: that of the two stages; with binomial trees ceil(log2 n)(alpha + m beta) + ceil(log2 ppn)(alpha_l + m beta_l).
 * The broadcast of Zhu, Goodell, Gropp and Thakur, Hierarchical Collectives in MPICH2 (2009).
 */
#include "coll/pattern/stages.h"
#include "coll/schedule/rows.h"

enum { MOST_STAGE_SEGMENTS = 16 };

/* One segment unless the caller specified a length; also if there is only one stage, which may itself cut. */
static int segments_of(const struct hs_shape *shape, const struct hs_two_levels *on)
{
    if (shape->segment == 0 || on->nodes == 1 || on->nodes == shape->size)
        return 1;
    return (int)hs_min(hs_segments(shape), MOST_STAGE_SEGMENTS);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_two_levels on = hs_two_levels(builder, shape);
    int segments = segments_of(shape, &on), arrived[2] = {-1, -1};
    struct hs_stage between = hs_stage_between(&on, shape, HS_BCAST), inside = hs_stage_inside(&on, shape, HS_BCAST);
    between.direct = inside.direct = 1;
    /* With several segments stages between nodes and inside overlap: their signals could not be ordered. */
    between.stages = segments > 1 ? 0 : 2;
    inside.stages = segments + 1;
    int64_t scratch = 0; /* stages overlap, so each uses separate scratch memory */
    for (int i = 0; i < segments; i++) {
        struct hs_span span = hs_span_equal(shape->bytes, shape->unit, segments, i);
        between.bytes = inside.bytes = span.count;
        between.in = between.out = inside.in = inside.out = hs_out(span.at);
        between.after = arrived[i % 2]; /* two stages are in flight, so that a leader receives while it sends */
        inside.number = i + 1;
        arrived[i % 2] = hs_emit_stage(builder, shape, &between, &scratch);
        inside.after = hs_emit_both(builder, arrived[i % 2], inside.after);
        inside.after = hs_emit_stage(builder, shape, &inside, &scratch);
    }
}

HS_ALG(HS_BCAST, bcast_hierarchical, "hierarchical", .build = build,
       .flags = HS_TRUE_ROOT | HS_KNOWS_NODES | HS_USES_SEGMENT | HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER,
       .doc = "a broadcast among the leaders of the nodes or sockets (outer), then one inside each of them (inner)");
