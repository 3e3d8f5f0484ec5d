/*
 * Broadcast on one node, over shared memory: the root puts segment after segment into a ring of slots in its SHARED,
 * the others copy them out.  A signal of the root tells that a segment is there; those of the others tell that it is
 * read, and are given only where the root is to use its slot again.
 *
 * Direct, for long vectors where peers' OUT can be read: the others copy the root's OUT, without SHARED.
 *
 * Cost with s segments: s + 1 copies of m/s bytes one after the other, s signals of the root; direct: one copy of m
 * bytes, one signal of each rank.
 */
#include "coll/schedule/rows.h"

enum {
    SHARED_SEGMENT = 32 * 1024,
    RING_BYTES = 256 * 1024,   /* should stay in a core's cache */
    LEAST_DIRECT = 32 * 1024,  /* from here on the root's OUT is read, if the topology can */
    DIRECT_PIECE = 1024 * 1024 /* of one copy, so that no step takes long */
};

struct ring {
    int64_t segments, slots, slot_bytes;
};

/* Two slots at least, if there is more than one segment and room for them; no slot if there is no room. */
static struct ring ring_of(const struct hs_shape *shape)
{
    int64_t elements = shape->bytes / shape->unit, shared_bytes = shape->topology->shared_bytes / shape->unit;
    int64_t longest = (shape->segment ? shape->segment : SHARED_SEGMENT) / shape->unit;
    longest = hs_least(longest > 0 ? longest : 1, elements);
    longest = hs_least(longest, elements > longest && shared_bytes > 1 ? shared_bytes / 2 : shared_bytes);
    if (longest < 1)
        return (struct ring){0};
    struct ring ring = {.segments = (elements + longest - 1) / longest};
    ring.slot_bytes = hs_part_equal(shape->bytes, shape->unit, ring.segments, 1);
    int64_t kept = hs_least(shape->topology->shared_bytes, RING_BYTES) / ring.slot_bytes;
    int64_t least = hs_least(2, shape->topology->shared_bytes / ring.slot_bytes);
    ring.slots = hs_least(kept > least ? kept : least, ring.segments);
    return ring;
}

static int64_t segment_at(const struct hs_shape *shape, const struct ring *ring, int64_t i)
{
    return hs_part_equal(shape->bytes, shape->unit, ring->segments, i);
}

/* A step that is done when all other ranks have given a signal. */
static int await_others(struct hs_builder *builder, const struct hs_shape *shape, int64_t value)
{
    int first = builder->list.steps, others = 0;
    for (int r = 0; r < shape->size; r++)
        if (r != shape->root)
            others += hs_emit_wait(builder, r, value) >= 0;
    int join = hs_emit_join(builder);
    for (int i = 0; i < others; i++)
        hs_after(builder, join, first + i);
    return join;
}

static void put_segments(struct hs_builder *builder, const struct hs_shape *shape, const struct ring *ring)
{
    int signal = -1;
    for (int64_t i = 0; i < ring->segments; i++) {
        int64_t at = segment_at(shape, ring, i), count = segment_at(shape, ring, i + 1) - at;
        int read = i >= ring->slots ? await_others(builder, shape, i - ring->slots + 1) : -1;
        int copy = hs_emit_copy(builder, hs_shared(i % ring->slots * ring->slot_bytes), hs_out(at), count);
        hs_after(builder, copy, signal);
        hs_after(builder, copy, read);
        signal = hs_emit_signal(builder, i + 1);
        hs_after(builder, signal, copy);
    }
}

static void take_segments(struct hs_builder *builder, const struct hs_shape *shape, const struct ring *ring)
{
    int signal = -1;
    for (int64_t i = 0; i < ring->segments; i++) {
        int64_t at = segment_at(shape, ring, i), count = segment_at(shape, ring, i + 1) - at;
        struct hs_ref slot = hs_shared(i % ring->slots * ring->slot_bytes);
        int there = hs_emit_wait(builder, shape->root, i + 1);
        int copy = hs_emit_copy(builder, hs_out(at), hs_of(shape->root, slot), count);
        hs_after(builder, copy, there);
        if (i + ring->slots >= ring->segments)
            continue;
        int before = signal;
        signal = hs_emit_signal(builder, i + 1);
        hs_after(builder, signal, copy);
        hs_after(builder, signal, before);
    }
}

static void read_root(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == shape->root) {
        hs_expose_slot(builder, HS_OUT);
        hs_emit_signal(builder, 1);
        await_others(builder, shape, 1);
        return;
    }
    int64_t longest = hs_least(DIRECT_PIECE / shape->unit, shape->bytes / shape->unit) * shape->unit;
    if (longest == 0)
        longest = shape->unit;
    int last = hs_emit_wait(builder, shape->root, 1);
    for (int64_t at = 0; at < shape->bytes; at += longest) {
        int64_t count = hs_least(longest, shape->bytes - at);
        int copy = hs_emit_copy(builder, hs_out(at), hs_of(shape->root, hs_out(at)), count);
        hs_after(builder, copy, last);
        last = copy;
    }
    int signal = hs_emit_signal(builder, 1);
    hs_after(builder, signal, last);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->topology->direct && shape->bytes >= LEAST_DIRECT) {
        read_root(builder, shape);
        return;
    }
    struct ring ring = ring_of(shape);
    if (ring.slots == 0)
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
    else if (shape->rank == shape->root)
        put_segments(builder, shape, &ring);
    else
        take_segments(builder, shape, &ring);
}

HS_ALG(HS_BCAST, bcast_shared, "shared", .build = build, .unfit = hs_unfit_shared,
       .flags = HS_TRUE_ROOT | HS_KNOWS_NODES | HS_USES_SEGMENT,
       .doc = "one node: the ranks read the root's memory, or segments that it puts into its shared slot");
