/*
 * Sums in shared memory. For short vectors, every rank that needs the sum computes all of it after one round of
 * signals. Longer vectors are cut into chunks, and each chunk into a part per rank, and pass through a pipeline. In
 * round c a rank
 *
 *     copies its contribution to chunk c, except its own part, into its SHARED,
 *     signals,
 *     once the others have signalled, sums its part of chunk c into its SHARED (the root of a reduction into OUT), and
 *     copies all parts of the sum of chunk c-1 from their owners' SHARED to OUT (in a reduction only the root does).
 *
 * A chunk occupies one of three slots of SHARED. The signal of round c means that the rank has copied its contribution
 * to chunk c, summed its part of chunk c-1 and read chunk c-2, so a slot is reused after three rounds without further
 * signals.
 *
 * Sums are in rank order, ((0 + 1) + 2) + ..., whatever the root, and every rank gets the same bits. Peers may
 * still read a rank's SHARED when its list ends.
 *
 * Cost per rank with s chunks. allreduce, up to b bytes: one signal, m bytes copied and (p-1) m summed; longer vectors:
 * s + 1 signals, (2 - 1/p) m bytes copied and (1 - 1/p) m summed. reduce, up to b bytes: one signal, m bytes copied by
 * each non-root and (p-1) m summed by the root; longer vectors: s + 1 signals, (1 - 1/p) m copied and (1 - 1/p) m
 * summed per rank, (1 - 1/p) m more copied by the root. This is the stage in shared memory of Bayatpour et al., DPML
 * (SC17), Section 4.1, with every rank a leader.
 */
#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

#include <string.h>

enum {
    WHOLE_BYTES = 32 * 1024, /* default of the bytes read to sum a whole vector; beyond, two rounds are cheaper */
    CHUNK_BYTES = 64 * 1024, /* bytes of a chunk: three chunks should stay in a core's cache */
    SUM_SLOTS = 3
};

struct sum {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct hs_pipe pipe;
    int taker;         /* the rank that gets the sum; -1 if all ranks do */
    int64_t announced; /* value of the last signal */
    /* ready[r]: 1 + the step after which rank r is known to have signalled `announced`; 0: none yet. */
    int *ready;
    /* Steps that the next signal must follow. */
    int *work, works;
};

/* The byte offset of a chunk in the vector. */
static int64_t chunk_at(const struct sum *sum, int64_t chunk)
{
    return hs_pipe_span(&sum->pipe, chunk).at;
}

/* The byte offset of a rank's part within a chunk. */
static int64_t part_at(const struct sum *sum, int64_t chunk, int rank)
{
    return hs_part_equal(hs_pipe_span(&sum->pipe, chunk).count, sum->shape->unit, sum->shape->size, rank);
}

static struct hs_ref slot_of(const struct sum *sum, int64_t chunk, int64_t at)
{
    return hs_plus(hs_pipe_place(&sum->pipe, chunk, 0), at);
}

/* The position where `rank` stores the sum of its part for the other ranks. */
static struct hs_ref result_of(const struct sum *sum, int64_t chunk, int rank)
{
    struct hs_ref own = slot_of(sum, chunk, part_at(sum, chunk, rank));
    return rank == sum->shape->rank ? own : hs_of(rank, own);
}

/* The contribution of `rank`, from byte `at` of a chunk on. */
static struct hs_ref contribution(const struct sum *sum, int64_t chunk, int rank, int64_t at)
{
    return rank == sum->shape->rank ? hs_in(chunk_at(sum, chunk) + at) : hs_of(rank, slot_of(sum, chunk, at));
}

static void note(struct sum *sum, int step)
{
    if (step >= 0)
        sum->work[sum->works++] = step;
}

/* Signals that all work since the previous signal is complete. */
static void announce(struct sum *sum)
{
    int signal = hs_emit_signal(sum->builder, ++sum->announced, -1);
    for (int i = 0; i < sum->works; i++)
        hs_after(sum->builder, signal, sum->work[i]);
    sum->works = 0;
    note(sum, signal);
    memset(sum->ready, 0, (size_t)sum->shape->size * sizeof *sum->ready);
    sum->ready[sum->shape->rank] = 1 + signal;
}

/* The step after which `rank` is known to have signalled `announced`, this rank's latest signal. */
static int ready(struct sum *sum, int rank)
{
    if (sum->ready[rank] == 0)
        sum->ready[rank] = 1 + hs_emit_wait(sum->builder, rank, sum->announced);
    return sum->ready[rank] - 1;
}

static int all_ready(struct sum *sum)
{
    for (int r = 0; r < sum->shape->size; r++)
        ready(sum, r);
    int join = hs_emit_join(sum->builder);
    for (int r = 0; r < sum->shape->size; r++)
        hs_after(sum->builder, join, ready(sum, r));
    return join;
}

/* dst = the sum of `count` bytes of all contributions, from byte `at` of a chunk on. */
static void add_up(struct sum *sum, int64_t chunk, struct hs_ref dst, int64_t at, int64_t count)
{
    if (count == 0)
        return;
    struct hs_ref left = contribution(sum, chunk, 0, at);
    int on = ready(sum, sum->shape->rank), first = ready(sum, 0), last = -1;
    if (sum->shape->size == 1) {
        last = hs_emit_copy(sum->builder, dst, left, count, first);
        hs_after(sum->builder, last, on);
    }
    for (int r = 1; r < sum->shape->size; r++, on = last, left = dst) {
        int right = ready(sum, r);
        last = hs_emit_reduce(sum->builder, dst, left, contribution(sum, chunk, r, at), count, on);
        hs_after(sum->builder, last, r == 1 ? first : -1);
        hs_after(sum->builder, last, right);
    }
    note(sum, last);
}

/* Copies a range of this rank's contribution to SHARED, where the other ranks read it. */
static void put(struct sum *sum, int64_t chunk, int64_t low, int64_t high, int after)
{
    struct hs_ref source = hs_in(chunk_at(sum, chunk) + low);
    note(sum, hs_emit_copy(sum->builder, slot_of(sum, chunk, low), source, high - low, after));
}

static void put_chunk(struct sum *sum, int64_t chunk)
{
    int rank = sum->shape->rank, free = -1;
    if (chunk >= SUM_SLOTS) {
        free = all_ready(sum); /* the last signals of all ranks imply that the slot has been read */
        note(sum, free);
    }
    put(sum, chunk, 0, part_at(sum, chunk, rank), free);
    put(sum, chunk, part_at(sum, chunk, rank + 1), part_at(sum, chunk, sum->shape->size), free);
}

/* Sums this rank's part of a chunk; directly to OUT if only this rank gets the sum. */
static void add_part(struct sum *sum, int64_t chunk)
{
    int rank = sum->shape->rank;
    int64_t at = part_at(sum, chunk, rank);
    struct hs_ref dst = rank == sum->taker ? hs_out(chunk_at(sum, chunk) + at) : result_of(sum, chunk, rank);
    add_up(sum, chunk, dst, at, part_at(sum, chunk, rank + 1) - at);
}

/* Copies all parts of the sum to OUT, the next rank's first, so that not all ranks read the same part. */
static void take_chunk(struct sum *sum, int64_t chunk)
{
    int size = sum->shape->size;
    for (int i = 1; i <= size; i++) {
        int rank = (sum->shape->rank + i) % size;
        int64_t at = part_at(sum, chunk, rank), count = part_at(sum, chunk, rank + 1) - at;
        if (count == 0 || rank == sum->taker)
            continue;
        int summed = ready(sum, rank);
        int copy =
            hs_emit_copy(sum->builder, hs_out(chunk_at(sum, chunk) + at), result_of(sum, chunk, rank), count, summed);
        note(sum, copy);
    }
}

static void sum_whole(struct sum *sum)
{
    int rank = sum->shape->rank;
    if (rank != sum->taker)
        put(sum, 0, 0, sum->shape->bytes, -1);
    announce(sum);
    if (sum->taker < 0 || rank == sum->taker)
        add_up(sum, 0, hs_out(0), 0, sum->shape->bytes);
}

static void sum_chunks(struct sum *sum)
{
    for (int64_t chunk = 0; chunk <= sum->pipe.segments; chunk++) {
        if (chunk < sum->pipe.segments)
            put_chunk(sum, chunk);
        announce(sum);
        if (chunk < sum->pipe.segments)
            add_part(sum, chunk);
        if (chunk > 0 && (sum->taker < 0 || sum->shape->rank == sum->taker))
            take_chunk(sum, chunk - 1);
    }
}

/* Chooses the chunk length. Returns 0 if there is too little shared memory. */
static int cut(struct sum *sum)
{
    const struct hs_shape *shape = sum->shape;
    int64_t shared_bytes = shape->topology->shared_bytes, elements = shape->bytes / shape->unit;
    int64_t wanted = CHUNK_BYTES / shape->unit;
    int64_t longest = hs_min(wanted > 0 ? wanted : 1, shared_bytes / SUM_SLOTS / shape->unit);
    if (elements <= wanted && shape->bytes <= shared_bytes)
        longest = elements;
    if (longest < 1)
        return 0;
    sum->pipe.segments = (elements + longest - 1) / longest;
    sum->pipe.pitch = chunk_at(sum, 1);
    return 1;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int to_root = builder->alg->collective == HS_REDUCE_TO;
    struct sum sum = {.builder = builder,
                      .shape = shape,
                      .pipe = {.shape = shape, .segments = 1, .slots = SUM_SLOTS, .places = 1},
                      .taker = to_root ? shape->root : -1};
    int64_t shared_bytes = shape->topology ? shape->topology->shared_bytes : 0;
    int64_t whole = shape->with.threshold ? shape->with.threshold : WHOLE_BYTES / shape->size;

    sum.ready = hs_builder_get(builder, (size_t)shape->size, sizeof *sum.ready);
    sum.work = hs_builder_get(builder, (size_t)shape->size + 6, sizeof *sum.work);
    if (!sum.ready || !sum.work)
        return;
    if (shape->bytes <= hs_min(whole, shared_bytes)) {
        sum_whole(&sum);
        return;
    }
    if (shared_bytes == 0 || !cut(&sum)) {
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
        return;
    }
    sum_chunks(&sum);
}

#define FLAGS (HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_USES_THRESHOLD)
HS_ALG(HS_REDUCE_TO, reduce_shared, "shared", .build = build, .unfit = hs_unfit_shared, .flags = HS_TRUE_ROOT | FLAGS,
       .doc = "one node: all copy their vectors into shared memory, and every rank reduces a part of them");
HS_ALG(HS_ALLREDUCE, allreduce_shared, "shared", .build = build, .unfit = hs_unfit_shared, .flags = FLAGS,
       .doc = "one node: all copy their vectors into shared memory, and every rank reduces a part of them (up to b "
              "bytes: all)");
