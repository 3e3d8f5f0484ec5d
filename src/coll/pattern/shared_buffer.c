/*
 * Sums in the memory of one rank, its owner: the GPU shared-buffer aware design of Faraji and Afsahi (2014), Section
 * 3.1.  Every other rank copies its vector into its own place there and signals (the copy flag); the owner waits for
 * all, adds up all places and its own IN in the order of the ranks, ((0 + 1) + 2) + ..., and signals (the completion
 * flag); the others copy the sum out.
 *
 * A vector that does not fit goes through the buffer in chunks, two of them at a time, so that one is copied in while
 * the other is summed.  The signal c + 1 of the owner tells that chunk c is summed, so its places are free again; the
 * signal c + 1 of another rank tells that its part of chunk c is there, and that it has copied out the sum that lies
 * where that of chunk c is to go.
 */
#include "coll/pattern/shared_buffer.h"

#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

struct buffer_cut {
    int64_t chunks, pitch; /* pitch: bytes of a place */
    int slots, places;     /* places of a slot: one per other rank, and one for the sum if others want it */
};

struct buffer {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct buffer_cut cut;
    int owner, everybody;
    struct hs_ref *operand; /* of the owner */
    int signalled;
    int summed;   /* the last WAIT for a sum */
    int taken[2]; /* per slot: the last copy of a sum to OUT */
};

/* No chunk if there is too little room. */
static struct buffer_cut cut_of(const struct hs_shape *shape, int everybody)
{
    int64_t shared_bytes = shape->topology->shared_bytes, unit = shape->unit, most = shape->bytes;
    struct buffer_cut cut = {.places = shape->size - 1 + everybody};
    if (shape->segment && shape->segment < most)
        most = shape->segment < unit ? unit : shape->segment / unit * unit;
    if (most == shape->bytes && hs_place_bytes(most, unit) <= shared_bytes / cut.places) {
        cut.slots = 1;
    } else {
        cut.slots = shared_bytes / 2 / cut.places >= unit ? 2 : 1;
        most = hs_least(most, hs_place_within(shared_bytes / cut.slots / cut.places, unit));
    }
    if (most == 0)
        return cut;
    cut.chunks = (shape->bytes + most - 1) / most;
    cut.pitch = hs_least(hs_place_bytes(most, unit), shared_bytes / cut.slots / cut.places / unit * unit);
    return cut;
}

const char *hs_unfit_buffer(const struct hs_shape *shape, int everybody)
{
    const char *why = hs_unfit_shared(shape);
    if (why || shape->bytes == 0)
        return why;
    struct buffer_cut cut = cut_of(shape, everybody);
    if (cut.chunks == 0)
        return "there is too little shared memory for so many ranks";
    return cut.chunks > HS_MOST_STEPS / 2 / shape->size ? "there is too little shared memory for so long a vector"
                                                        : NULL;
}

static int64_t chunk_at(const struct buffer *b, int64_t chunk)
{
    return hs_part_equal(b->shape->bytes, b->shape->unit, b->cut.chunks, chunk);
}

static int64_t chunk_bytes(const struct buffer *b, int64_t chunk)
{
    return chunk_at(b, chunk + 1) - chunk_at(b, chunk);
}

/* In the owner's SHARED: where a rank's part of a chunk lies; the owner's own place is that of the sum. */
static struct hs_ref place_of(const struct buffer *b, int64_t chunk, int rank)
{
    int place = rank == b->owner ? b->shape->size - 1 : rank - (rank > b->owner);
    return hs_shared((chunk % b->cut.slots * b->cut.places + place) * b->cut.pitch);
}

static void announce(struct buffer *b, int64_t chunk, int done, int also)
{
    int signal = hs_emit_signal(b->builder, chunk + 1);
    hs_after(b->builder, signal, done);
    hs_after(b->builder, signal, also);
    hs_after(b->builder, signal, b->signalled);
    b->signalled = signal;
}

/* Steps 1 and 2 of the paper: into the buffer, once its owner has summed what was there before. */
static void put(struct buffer *b, int64_t chunk)
{
    struct hs_ref place = hs_of(b->owner, place_of(b, chunk, b->shape->rank));
    int copy = hs_emit_copy(b->builder, place, hs_in(chunk_at(b, chunk)), chunk_bytes(b, chunk));
    hs_after(b->builder, copy, b->summed);
    announce(b, chunk, copy, b->taken[chunk % b->cut.slots]);
}

/* Steps 6 and 7. */
static void take(struct buffer *b, int64_t chunk)
{
    b->summed = hs_emit_wait(b->builder, b->owner, chunk + 1);
    if (!b->everybody)
        return;
    struct hs_ref sum = hs_of(b->owner, place_of(b, chunk, b->owner));
    int copy = hs_emit_copy(b->builder, hs_out(chunk_at(b, chunk)), sum, chunk_bytes(b, chunk));
    hs_after(b->builder, copy, b->summed);
    b->taken[chunk % b->cut.slots] = copy;
}

static void contribute(struct buffer *b)
{
    int64_t slots = b->cut.slots, chunks = b->cut.chunks;
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        if (chunk >= slots)
            take(b, chunk - slots);
        put(b, chunk);
    }
    for (int64_t chunk = chunks > slots ? chunks - slots : 0; b->everybody && chunk < chunks; chunk++)
        take(b, chunk);
}

/* Steps 3 to 5: a chunk of the owner. */
static void sum(struct buffer *b, int64_t chunk)
{
    int *taken = &b->taken[chunk % b->cut.slots];
    struct hs_ref dst = hs_out(chunk_at(b, chunk));
    for (int r = 0; r < b->shape->size; r++)
        b->operand[r] = r == b->owner ? hs_in(chunk_at(b, chunk)) : place_of(b, chunk, r);
    int ready = hs_emit_wait_all(b->builder, b->shape, chunk + 1, *taken);
    int done = hs_emit_sum_chain(b->builder, b->everybody ? place_of(b, chunk, b->owner) : dst, b->operand,
                                 b->shape->size, chunk_bytes(b, chunk), ready);
    if (b->everybody || chunk + b->cut.slots < b->cut.chunks) /* who waits for it */
        announce(b, chunk, done, -1);
    if (!b->everybody)
        return;
    *taken = hs_emit_copy(b->builder, dst, place_of(b, chunk, b->owner), chunk_bytes(b, chunk));
    hs_after(b->builder, *taken, done);
}

void hs_emit_shared_buffer(struct hs_builder *builder, const struct hs_shape *shape, int owner, int everybody)
{
    struct buffer b = {builder,         shape,        .owner = owner,   .everybody = everybody,
                       .signalled = -1, .summed = -1, .taken = {-1, -1}};
    b.cut = cut_of(shape, everybody);
    if (b.cut.chunks == 0) {
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
    } else if (shape->rank != owner) {
        contribute(&b);
    } else {
        b.operand = hs_builder_get(builder, (size_t)shape->size, sizeof *b.operand);
        for (int64_t chunk = 0; b.operand && chunk < b.cut.chunks; chunk++)
            sum(&b, chunk);
    }
}
