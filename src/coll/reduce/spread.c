/*
 * Reduction to the root on one node: every rank adds up its slice of the vector out of all ranks' IN, where they are,
 * into its SHARED, and the root copies the slices; its own one goes to OUT at once.  In pieces of a slice, of which two
 * are in SHARED at a time, so that the sums of one overlap the copies of the one before: k, or more if the room asks
 * for it.  Needs that ranks can read each other's memory.
 *
 * Cost with s pieces: per rank s REDUCEs of q vectors, (1 - 1/q) m read and summed, s + 1 signals; s (q-1) copies and
 * (1 - 1/q) m bytes copied by the root.  The first half of allreduce "spread", for one taker.
 */
#include "coll/pattern/rounds.h"
#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

enum { SPREAD_SLOTS = 2 };

struct reduce_spread {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    int64_t pieces, pitch; /* pitch: bytes of a slot */
};

static int64_t slice_at(const struct hs_shape *shape, int rank)
{
    return hs_part_equal(shape->bytes, shape->unit, shape->size, rank);
}

/* The longest slice is rank 0's. */
static int64_t pieces_of(const struct hs_shape *shape)
{
    int64_t slot = hs_place_within(shape->topology->shared_bytes / SPREAD_SLOTS, shape->unit),
            longest = slice_at(shape, 1);
    int64_t wanted = hs_slice_pieces(shape), needed = (longest + slot - 1) / slot;
    return wanted > needed ? wanted : needed;
}

static const char *unfit(const struct hs_shape *shape)
{
    const char *why = hs_unfit_shared(shape);
    if (!why)
        why = hs_unfit_spread(shape);
    if (why || shape->bytes == 0)
        return why;
    return pieces_of(shape) > HS_MOST_STEPS / 4 / shape->size ? "there is too little shared memory for so long a vector"
                                                              : NULL;
}

static int64_t piece_at(const struct reduce_spread *s, int rank, int64_t piece)
{
    int64_t bytes = slice_at(s->shape, rank + 1) - slice_at(s->shape, rank);
    return slice_at(s->shape, rank) + hs_part_equal(bytes, s->shape->unit, s->pieces, piece);
}

static struct hs_ref slot_of(const struct reduce_spread *s, int64_t piece)
{
    return hs_shared(piece % SPREAD_SLOTS * s->pitch);
}

/* Of the root: it has copied the piece; of the others: it is summed. */
static int64_t signal_of(int64_t piece)
{
    return piece + 2;
}

static int add_piece(const struct reduce_spread *s, int64_t piece, int after)
{
    const struct hs_shape *shape = s->shape;
    int64_t at = piece_at(s, shape->rank, piece), count = piece_at(s, shape->rank, piece + 1) - at;
    struct hs_ref dst = shape->rank == shape->root ? hs_out(at) : slot_of(s, piece);
    return hs_emit_sum_of_all(s->builder, shape, dst, at, count, after);
}

/* Copies a piece of the other slices.  Returns a JOIN. */
static int copy_piece(const struct reduce_spread *s, int64_t piece, int after)
{
    int size = s->shape->size, first = s->builder->list.steps;
    for (int i = 1; i < size; i++) {
        int rank = (s->shape->rank + i) % size;
        int64_t at = piece_at(s, rank, piece), count = piece_at(s, rank, piece + 1) - at;
        if (count == 0)
            continue;
        int summed = hs_emit_wait(s->builder, rank, signal_of(piece));
        int copy = hs_emit_copy(s->builder, hs_out(at), hs_of(rank, slot_of(s, piece)), count);
        hs_after(s->builder, copy, summed);
    }
    return hs_emit_join_copies(s->builder, first, after);
}

static int announce(const struct reduce_spread *s, int64_t piece, int before, int done)
{
    int signal = hs_emit_signal(s->builder, signal_of(piece));
    hs_after(s->builder, signal, before);
    hs_after(s->builder, signal, done);
    return signal;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct reduce_spread s = {builder, shape, 0, 0};
    int is_root = shape->rank == shape->root, summed[SPREAD_SLOTS] = {-1, -1};
    s.pieces = pieces_of(shape);
    s.pitch = hs_place_within(shape->topology->shared_bytes / SPREAD_SLOTS, shape->unit);
    hs_expose(builder);
    int signal = hs_emit_signal(builder, 1), entered = hs_emit_wait_all(builder, shape, 1, signal);
    for (int64_t piece = 0; piece < s.pieces + is_root; piece++) {
        int free = entered;
        if (!is_root && piece >= SPREAD_SLOTS) {
            int read = hs_emit_wait(builder, shape->root, signal_of(piece - SPREAD_SLOTS));
            free = hs_emit_join(builder);
            hs_after(builder, free, read);
            hs_after(builder, free, entered);
            hs_after(builder, free, summed[piece % SPREAD_SLOTS]);
        }
        if (piece < s.pieces)
            summed[piece % SPREAD_SLOTS] = add_piece(&s, piece, free);
        if (!is_root)
            signal = announce(&s, piece, signal, summed[piece % SPREAD_SLOTS]);
        else if (piece > 0)
            signal = announce(&s, piece - 1, signal, copy_piece(&s, piece - 1, summed[(piece - 1) % SPREAD_SLOTS]));
    }
    hs_emit_wait_all(builder, shape, signal_of(s.pieces - 1), signal); /* nobody reads IN any longer */
}

HS_ALG(
    HS_REDUCE_TO, reduce_spread, "spread", .build = build, .unfit = unfit,
    .flags = HS_TRUE_ROOT | HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES | HS_USES_PIECES,
    .doc =
        "one node: every rank reduces a slice of all ranks' vectors, read where they are; the root copies the slices");
