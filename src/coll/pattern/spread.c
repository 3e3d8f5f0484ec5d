/*
 * The rows "spread": inside one node every rank sums its part of the vector directly from all ranks' IN, copies the
 * other parts directly from their owners' OUT, or both. In a reduction the root copies the other parts from their
 * owners' SHARED. Ranks must be able to read each other's memory. allreduce and reduce cut a rank's part into k
 * segments, so that the sums of a segment overlap the copies of the previous one.
 *
 * Cost per rank with s segments (1 in allgather and reduce_scatter) and equal parts:
 *   - sums, not in allgather: (1 - 1/q) m bytes in s (q-1) REDUCEs, which an executor may fuse into s passes;
 *   - copies, not in reduce_scatter, and in reduce only by the root: (1 - 1/q) m bytes in s (q-1) COPYs; in allgather
 *     every rank also copies its own part;
 *   - signals: s + 2 in allreduce, s + 1 in reduce, else 2.
 * Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), let rank 0 perform all sums (Section 3.1);
 * here all ranks share the work.
 */
#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

/* The number of segments per part: parameter k, or chosen by the length of the longest part, which is rank 0's. */
static int64_t segments_of(const struct hs_shape *shape)
{
    enum { MOST_CHAIN_STEPS = 1 << 18, MOST_PIECES = 4, PIECE_BYTES = 256 * 1024 };
    int64_t longest = hs_part_at(shape, 1), segments = shape->with.pieces;
    if (segments < 1)
        segments = hs_min(longest / PIECE_BYTES, MOST_PIECES);
    segments = hs_min(hs_min(segments, longest / shape->unit), MOST_CHAIN_STEPS / shape->size);
    return segments > 1 ? segments : 1;
}

/* The pipeline of the reduction. Its sums pass through SHARED, so it has more segments if SHARED is small. */
static struct hs_pipe through_shared(const struct hs_shape *shape)
{
    struct hs_pipe pipe = {.shape = shape, .slots = HS_PIPE_SLOTS, .places = 1};
    int64_t longest = hs_part_at(shape, 1), wanted = segments_of(shape);
    pipe.pitch = hs_place_within(shape->topology->shared_bytes / HS_PIPE_SLOTS, shape->unit);
    pipe.segments = (longest + pipe.pitch - 1) / pipe.pitch;
    if (pipe.segments < wanted)
        pipe.segments = wanted;
    pipe.pitch = hs_min(pipe.pitch, hs_place_bytes(hs_part_equal(longest, shape->unit, pipe.segments, 1), shape->unit));
    return pipe;
}

static const char *unfit_reduce(const struct hs_alg *alg, const struct hs_shape *shape)
{
    const char *why = hs_unfit_shared(alg, shape);
    if (!why)
        why = hs_unfit_spread(alg, shape);
    if (why || shape->bytes == 0)
        return why;
    struct hs_shape equal = *shape;
    equal.part = NULL; /* reduce and allreduce have equal parts */
    struct hs_pipe pipe = through_shared(&equal);
    return hs_pipe_unfit(&pipe, 4 * (int64_t)shape->size);
}

/* Exposes IN and OUT after step `after`. Returns the step after which all peers' IN and OUT may be read. */
static int enter(struct hs_pipe *pipe, int after)
{
    hs_expose(pipe->builder);
    hs_emit_signal_next(pipe->builder, 1, after, -1);
    return hs_emit_wait_all(pipe->builder, pipe->shape, 1, pipe->builder->signalled);
}

/* Waits until no rank reads IN or OUT any longer. done: this rank's last reading of peers' memory. */
static void leave(struct hs_pipe *pipe, int64_t value, int done)
{
    hs_emit_signal_next(pipe->builder, value, pipe->builder->signalled, done);
    hs_emit_wait_all(pipe->builder, pipe->shape, value, pipe->builder->signalled);
}

/* Sets dst to the sum of the same range of all ranks' IN. */
static int sum_span(struct hs_pipe *pipe, struct hs_ref dst, struct hs_span span, int after)
{
    int size = pipe->shape->size;
    struct hs_ref *operand = hs_builder_get(pipe->builder, (size_t)size, sizeof *operand);
    for (int r = 0; operand && r < size; r++)
        operand[r] = r == pipe->shape->rank ? hs_in(span.at) : hs_of(r, hs_in(span.at));
    return operand ? hs_emit_sum_chain(pipe->builder, dst, operand, size, span.count, after) : -1;
}

/* The signal for a segment: this rank has summed it; from the root of a reduction: has copied it. */
static int64_t signal_of(int64_t segment)
{
    return segment + 2;
}

/*
 * Copies one segment of all other ranks' parts to OUT, starting with the next rank's, so that not all ranks read the
 * same part at once. The sums are in their owners' SHARED or OUT. Returns a JOIN after all copies and `after`.
 */
static int copy_segment(struct hs_pipe *pipe, int64_t segment, int in_shared, int after)
{
    int size = pipe->shape->size, first = pipe->builder->list.steps;
    for (int i = 1; i < size; i++) {
        int rank = (pipe->shape->rank + i) % size;
        struct hs_span span = hs_pipe_part(pipe, rank, segment);
        if (span.count == 0)
            continue;
        struct hs_ref from = in_shared ? hs_pipe_place(pipe, segment, 0) : hs_out(span.at);
        int summed = hs_emit_wait(pipe->builder, rank, signal_of(segment));
        hs_emit_copy(pipe->builder, hs_out(span.at), hs_of(rank, from), span.count, summed);
    }
    return hs_emit_join_of(pipe->builder, HS_COPY, first, after);
}

static void build_allreduce(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_shape equal = *shape;
    equal.part = NULL; /* reduce and allreduce have equal parts */
    struct hs_pipe pipe = {.builder = builder, .shape = &equal, .segments = segments_of(&equal)};
    int entered = enter(&pipe, -1), done = builder->signalled;
    for (int64_t segment = 0; segment <= pipe.segments; segment++) {
        if (segment < pipe.segments) {
            struct hs_span span = hs_pipe_part(&pipe, shape->rank, segment);
            int summed = sum_span(&pipe, hs_out(span.at), span, entered);
            hs_emit_signal_next(builder, signal_of(segment), builder->signalled, summed);
        }
        if (segment > 0)
            done = copy_segment(&pipe, segment - 1, 0, done);
    }
    leave(&pipe, signal_of(pipe.segments), done);
}

static void build_reduce(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_shape equal = *shape;
    equal.part = NULL; /* reduce and allreduce have equal parts */
    struct hs_pipe pipe = through_shared(&equal);
    int is_root = shape->rank == shape->root, summed[HS_PIPE_SLOTS] = {-1, -1};
    pipe.builder = builder;
    int entered = enter(&pipe, -1);
    for (int64_t segment = 0; segment < pipe.segments + is_root; segment++) {
        int free = entered, *sum = &summed[segment % pipe.slots], before = summed[(segment + 1) % pipe.slots];
        if (!is_root && segment >= pipe.slots) {
            int read = hs_emit_wait(builder, shape->root, signal_of(segment - pipe.slots));
            free = hs_emit_join(builder);
            hs_after(builder, free, read);
            hs_after(builder, free, entered);
            hs_after(builder, free, *sum);
        }
        if (segment < pipe.segments) {
            struct hs_span span = hs_pipe_part(&pipe, shape->rank, segment);
            *sum = sum_span(&pipe, is_root ? hs_out(span.at) : hs_pipe_place(&pipe, segment, 0), span, free);
        }
        if (!is_root)
            hs_emit_signal_next(builder, signal_of(segment), builder->signalled, *sum);
        else if (segment > 0)
            hs_emit_signal_next(builder, signal_of(segment - 1), builder->signalled,
                                copy_segment(&pipe, segment - 1, 1, before));
    }
    hs_emit_wait_all(builder, shape, signal_of(pipe.segments - 1),
                     builder->signalled); /* until no rank reads IN any longer */
}

static void build_reduce_scatter(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_pipe pipe = {.builder = builder, .shape = shape, .segments = 1};
    int entered = enter(&pipe, -1);
    leave(&pipe, 2, sum_span(&pipe, hs_out(0), hs_pipe_part(&pipe, shape->rank, 0), entered));
}

static void build_allgather(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_pipe pipe = {.builder = builder, .shape = shape, .segments = 1};
    struct hs_span own = hs_pipe_part(&pipe, shape->rank, 0);
    int copied = hs_emit_copy(builder, hs_out(own.at), hs_in(0), own.count, -1);
    int ready = enter(&pipe, copied), first = builder->list.steps;
    for (int i = 1; i < shape->size; i++) {
        int rank = (shape->rank + i) % shape->size;
        struct hs_span span = hs_pipe_part(&pipe, rank, 0);
        hs_emit_copy(builder, hs_out(span.at), hs_of(rank, hs_out(span.at)), span.count, ready);
    }
    leave(&pipe, 2, hs_emit_join_of(builder, HS_COPY, first, -1));
}

HS_ALG(HS_REDUCE_TO, reduce_spread, "spread", .build = build_reduce, .unfit = unfit_reduce,
       .flags = HS_KNOWS_NODES | HS_TRUE_ROOT | HS_SUMS_IN_ORDER | HS_USES_PIECES,
       .doc = "one node: every rank reduces a slice of all ranks' vectors, read in place; the root copies the slices");
HS_ALG(
    HS_ALLREDUCE, allreduce_spread, "spread", .build = build_allreduce, .unfit = hs_unfit_spread,
    .flags = HS_KNOWS_NODES | HS_SUMS_IN_ORDER | HS_USES_PIECES,
    .doc =
        "one node: every rank reduces a slice of all ranks' vectors, read in place; all copy the slices of the others");
HS_ALG(HS_ALLGATHER, allgather_spread, "spread", .build = build_allgather, .unfit = hs_unfit_spread,
       .flags = HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: every rank copies the others' parts directly from their memory");
HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_spread, "spread", .build = build_reduce_scatter, .unfit = hs_unfit_spread,
       .flags = HS_KNOWS_NODES | HS_FOR_DEVICES | HS_SUMS_IN_ORDER,
       .doc = "one node: every rank reduces its part of all ranks' vectors, read in place");
