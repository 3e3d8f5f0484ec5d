/*
 * Allgather, Bruck: in round k every rank sends the parts that it has, those of up to 2^k ranks from itself on
 * (cyclically), to the rank 2^k below it. Any number of ranks; parts may differ in length and may be empty. Parts are
 * kept in the order of arrival, so each round is one message; ranks other than 0 copy them to their places in OUT.
 *
 * Cost: ceil(log2 q) alpha + (1 - 1/q) m beta for equal parts. Scratch memory: one vector. Bruck, Ho, Kipnis, Upfal and
 * Weathersby, Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems (1997).
 */
#include "coll/schedule/rows.h"

/* The total bytes of the parts of `parts` consecutive ranks (cyclically), beginning with rank `first`. */
static int64_t span(const struct hs_shape *shape, int first, int64_t parts)
{
    int64_t end = first + parts, begin = hs_part_at(shape, first);
    return end <= shape->size ? hs_part_at(shape, (int)end) - begin
                              : shape->bytes - begin + hs_part_at(shape, (int)(end - shape->size));
}

/* Copies bytes at `at` of SCRATCH to OUT, `at` bytes after the start of this rank's part; wraps at OUT's end. */
static void turn(struct hs_builder *builder, const struct hs_shape *shape, int64_t at, int64_t count, int received)
{
    int64_t place = hs_part_at(shape, shape->rank) + at, before_end = shape->bytes - place;
    struct hs_ref from = hs_scratch(at);
    if (before_end > 0) {
        int64_t first = count < before_end ? count : before_end;
        hs_emit_copy(builder, hs_out(place), from, first, received);
        from = hs_plus(from, first);
        place = 0, count -= first;
    } else {
        place -= shape->bytes;
    }
    hs_emit_copy(builder, hs_out(place), from, count, received);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int rank = shape->rank, size = shape->size, sent = -1, received = -1;
    int64_t own = span(shape, rank, 1);
    struct hs_ref kept = rank == 0 ? hs_out(0) : hs_scratch(0);
    int copied = size > 2 || rank == 0 ? hs_emit_copy(builder, kept, hs_in(0), own, -1) : -1;

    if (rank > 0)
        hs_emit_copy(builder, hs_out(hs_part_at(shape, rank)), hs_in(0), own, -1);
    for (int64_t have = 1; have < size; have *= 2) {
        int64_t parts = have < size - have ? have : size - have, at = span(shape, rank, have);
        int from = (int)((rank + have) % size), to = (int)((rank - have + size) % size);
        int send =
            hs_emit_send(builder, to, have == 1 ? hs_in(0) : kept, span(shape, rank, parts), have == 1 ? -1 : copied);
        hs_after(builder, send, sent); /* `sent` depends on the RECVs of all rounds before the previous one */
        hs_after(builder, send, received);
        sent = send;
        int64_t count = span(shape, from, parts);
        received = hs_emit_recv(builder, from, hs_plus(kept, at), count, -1);
        if (rank > 0)
            turn(builder, shape, at, count, received);
    }
}

HS_ALG(HS_ALLGATHER, allgather_bruck, "bruck", .build = build,
       .doc = "ceil(log2 q) rounds for any q: ceil(log2 q) alpha + (1 - 1/q) m beta; Bruck et al. (1997)");
