/*
 * Allreduce on one node without a buffer: every rank adds up its slice of the vector out of all ranks' IN, where they
 * are, into its own OUT, and copies the other slices out of the OUT of their ranks: a reduce-scatter and an allgather
 * in place.  In k pieces of a slice, so that the sums of one piece overlap the copies of the one before.  Needs that
 * ranks can read each other's memory.
 *
 * Cost per rank: k REDUCEs of q vectors and k (q-1) copies, (1 - 1/q) m read and summed, (1 - 1/q) m copied; the work
 * and the traffic of all memories are the same; k + 2 signals.  What Faraji and Afsahi, GPU-Aware Intranode
 * MPI_Allreduce (EuroMPI/ASIA 2014), let rank 0 do alone (Section 3.1), done by all.
 */
#include "coll/pattern/rounds.h"
#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

struct allreduce_spread {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    int64_t pieces;
};

/* Byte offset in the vector of a piece of a rank's slice. */
static int64_t piece_at(const struct allreduce_spread *s, int rank, int64_t piece)
{
    const struct hs_shape *shape = s->shape;
    int64_t begin = hs_part_equal(shape->bytes, shape->unit, shape->size, rank);
    int64_t bytes = hs_part_equal(shape->bytes, shape->unit, shape->size, rank + 1) - begin;
    return begin + hs_part_equal(bytes, shape->unit, s->pieces, piece);
}

static int64_t signal_of(int64_t piece)
{
    return piece + 2;
}

/* Copies a piece of the other slices, beginning behind the own rank: not all at the same one.  Returns a JOIN. */
static int copy_piece(const struct allreduce_spread *s, int64_t piece, int after)
{
    int size = s->shape->size, first = s->builder->list.steps;
    for (int i = 1; i < size; i++) {
        int rank = (s->shape->rank + i) % size;
        int64_t at = piece_at(s, rank, piece), count = piece_at(s, rank, piece + 1) - at;
        if (count == 0)
            continue;
        int summed = hs_emit_wait(s->builder, rank, signal_of(piece));
        int copy = hs_emit_copy(s->builder, hs_out(at), hs_of(rank, hs_out(at)), count);
        hs_after(s->builder, copy, summed);
    }
    return hs_emit_join_copies(s->builder, first, after);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct allreduce_spread s = {builder, shape, hs_slice_pieces(shape)};
    hs_expose(builder);
    int signal = hs_emit_signal(builder, 1), entered = hs_emit_wait_all(builder, shape, 1, signal), done = signal;
    for (int64_t piece = 0; piece <= s.pieces; piece++) {
        int64_t at = piece_at(&s, shape->rank, piece);
        if (piece < s.pieces) {
            int64_t count = piece_at(&s, shape->rank, piece + 1) - at;
            int summed = hs_emit_sum_of_all(builder, shape, hs_out(at), at, count, entered);
            int before = signal;
            signal = hs_emit_signal(builder, signal_of(piece));
            hs_after(builder, signal, before);
            hs_after(builder, signal, summed);
        }
        if (piece > 0)
            done = copy_piece(&s, piece - 1, done);
    }
    int last = hs_emit_signal(builder, signal_of(s.pieces));
    hs_after(builder, last, signal);
    hs_after(builder, last, done);
    hs_emit_wait_all(builder, shape, signal_of(s.pieces), last); /* nobody reads IN or OUT any longer */
}

HS_ALG(HS_ALLREDUCE, allreduce_spread, "spread", .build = build, .unfit = hs_unfit_spread,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES | HS_USES_PIECES,
       .doc = "one node: every rank reduces a slice of all ranks' vectors, read where they are; all copy the slices of "
              "the others");
