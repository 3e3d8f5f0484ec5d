/*
 * Broadcast on one node, over shared memory: the root copies one segment after another into a ring of slots in its
 * SHARED, and the other ranks copy the segments to their OUT. The root signals when a segment is in a slot. If the root
 * will reuse the slot, the other ranks signal when they have read the segment.
 *
 * Cost with s segments: s + 1 successive copies of m/s bytes, s signals of the root.
 */
#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

enum {
    SHARED_SEGMENT = 32 * 1024,
    RING_BYTES = 128 * 1024 /* bytes of all slots together: those of HS_RING broadcasts should stay in a core's cache */
};

/* At least two slots if there are several segments and room for them; no segments if an element does not fit. */
static struct hs_pipe pipeline_of(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_pipe pipe = {.builder = builder, .shape = shape, .places = 1};
    int64_t elements = shape->bytes / shape->unit, shared_bytes = shape->topology->shared_bytes / shape->unit;
    int64_t longest = (shape->segment ? shape->segment : SHARED_SEGMENT) / shape->unit;
    longest = hs_min(longest > 0 ? longest : 1, elements);
    longest = hs_min(longest, elements > longest && shared_bytes > 1 ? shared_bytes / 2 : shared_bytes);
    if (longest < 1)
        return pipe;
    pipe.segments = (elements + longest - 1) / longest;
    pipe.pitch = hs_pipe_span(&pipe, 0).count;
    int64_t kept = hs_min(shape->topology->shared_bytes, RING_BYTES) / pipe.pitch;
    int64_t least = hs_min(2, shape->topology->shared_bytes / pipe.pitch);
    pipe.slots = hs_min(kept > least ? kept : least, pipe.segments);
    return pipe;
}

static void put_segments(struct hs_pipe *pipe)
{
    int signalled = -1;
    for (int64_t i = 0; i < pipe->segments; i++) {
        struct hs_span span = hs_pipe_span(pipe, i);
        int read = i >= pipe->slots ? hs_emit_wait_all(pipe->builder, pipe->shape, i - pipe->slots + 1, -1) : -1;
        int copy = hs_emit_copy(pipe->builder, hs_pipe_place(pipe, i, 0), hs_out(span.at), span.count, signalled);
        hs_after(pipe->builder, copy, read);
        signalled = hs_emit_signal(pipe->builder, i + 1, copy);
    }
}

static void take_segments(struct hs_pipe *pipe)
{
    int root = pipe->shape->root;
    for (int64_t i = 0; i < pipe->segments; i++) {
        struct hs_span span = hs_pipe_span(pipe, i);
        int there = hs_emit_wait(pipe->builder, root, i + 1);
        struct hs_ref from = hs_of(root, hs_pipe_place(pipe, i, 0));
        int copy = hs_emit_copy(pipe->builder, hs_out(span.at), from, span.count, there);
        if (i + pipe->slots < pipe->segments)
            hs_emit_signal_next(pipe->builder, i + 1, copy, -1);
    }
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_pipe pipe = pipeline_of(builder, shape);
    if (pipe.segments == 0)
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
    else if (shape->rank == shape->root)
        put_segments(&pipe);
    else
        take_segments(&pipe);
}

HS_ALG(HS_BCAST, bcast_shared, "shared", .build = build, .unfit = hs_unfit_shared,
       .flags = HS_TRUE_ROOT | HS_KNOWS_NODES | HS_USES_SEGMENT,
       .doc = "one node: the root copies segments into its shared memory, and the others copy them from there");
