/*
 * Allreduce with data partitioning and multiple leaders, DPML. The first l ranks of every node are its leaders (l is
 * limited to the size of the smallest node); each is responsible for one of l partitions of the vector:
 *
 *     1. every rank copies its vector into its shared memory, in l partitions (a leader omits its own);
 *     2. every leader sums its partition over the node, reading the others' shared memory in place;
 *     3. the leaders with the same number on all nodes perform an allreduce of their partition (any row: parameter
 *        outer), cut into k pieces whose messages are in flight at the same time;
 *     4. each leader stores its result in its shared memory, and all ranks of the node copy the l partitions to OUT.
 *
 * A vector that exceeds the shared memory passes through it in chunks: the next chunk is copied in while one is
 * reduced. Without shared memory, phases 1 and 2 are a reduce-scatter and phase 4 an allgather, by messages. Unless
 * rows named by parameter inner are used, sums inside a node are bracketed as a binary tree over its ranks. With
 * level=socket, "node" means socket, and the leaders of all sockets participate in phase 3.
 *
 * Parameter inner names the rows of reduce_scatter and allgather that perform phases 1 and 2, and phase 4. They are
 * used if both collectives have a row of that name, both rows fit the node, and the vector fits into the shared memory.
 *
 * All elements are bracketed alike if the outer row's bracketing does not depend on the length of the vector, which is
 * true of all rows that keep order except rabenseifner_traff.
 *
 * Cost with h nodes of ppn ranks, where a, b, c are alpha, beta, gamma, and a' and b' those of copies in shared memory:
 * l (a' + b' m/l) + (ppn - 1) m/l c + ceil(log2 h)(k a + (b + c) m/l) + l (a' + b' m/l). Bayatpour et al., Scalable
 * Reduction Collectives with Data Partitioning-based Multi-Leader Design (SC17), Sections 4.1 to 4.3 and 5.
 */
#include "coll/pattern/pipeline.h"
#include "coll/pattern/stages.h"
#include "coll/pattern/sum_tree.h"
#include "coll/schedule/rows.h"

enum { DEFAULT_LEADERS = 4, MOST_CHUNKS = HS_STAGE_SIGNALS / 2 - 2 };

struct dpml {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct hs_shape outer; /* shape of phase 3, which does not use shared memory */
    struct hs_two_levels on;
    int leaders, pieces;
    int *peers;            /* if this rank is a leader: the leaders with its number, one per node, indexed by node */
    int64_t outer_scratch; /* offset in SCRATCH of phase 3's memory */
    int outer_done;        /* last step of phase 3 of the previous chunk */
    /* The fields below are used with shared memory only. */
    int64_t chunk;
    struct hs_pipe pipe; /* two slots, each one half of the shared memory */
    int summed;          /* step that summed the previous chunk */
    /*
     * For each half of the shared memory, the step after which this rank has copied the results of the last chunk there
     * to OUT; by then all its contributions to that chunk have been read.
     */
    int taken[2];
};

static int leads(const struct dpml *d)
{
    return d->on.me < d->leaders;
}

/* Signal values ascend in list order: chunk t + 1 is contributed before chunk t is finished. */
static int64_t contributed(int64_t t)
{
    return 2 * t + 1;
}
static int64_t finished(int64_t t)
{
    return 2 * t + 4;
}

/* Phase 3, between nodes. The pieces are interleaved, so that one is summed while another is being sent. */
static int between_nodes(struct dpml *d, struct hs_ref in, struct hs_ref out, int64_t bytes, int after)
{
    int64_t scratch = d->outer_scratch, unit = d->shape->unit;
    int *begin = hs_builder_get(d->builder, 2 * (size_t)d->pieces + 1, sizeof *begin), *end = begin + d->pieces + 1;
    if (!begin)
        return -1;
    after = hs_emit_both(d->builder, after, d->outer_done);
    for (int q = 0; q < d->pieces; q++) {
        struct hs_span piece = hs_span_equal(bytes, unit, d->pieces, q);
        struct hs_stage stage = {.collective = HS_ALLREDUCE,
                                 .between = 1,
                                 .rank = d->peers,
                                 .size = d->on.nodes,
                                 .me = d->on.node,
                                 .bytes = piece.count,
                                 .in = hs_plus(in, piece.at),
                                 .out = hs_plus(out, piece.at),
                                 .stages = 1,
                                 .after = after};
        begin[q] = d->builder->list.steps;
        end[q] = piece.count > 0 ? hs_emit_stage(d->builder, &d->outer, &stage, &scratch) : after;
    }
    begin[d->pieces] = d->builder->list.steps;
    /* Longer pieces come first and may have other steps: interleaved with the others, messages would not match. */
    int longer = (int)(bytes / unit % d->pieces), done = after;
    hs_interleave(d->builder, begin + longer, d->pieces - longer, end + longer);
    hs_interleave(d->builder, begin, longer, end);
    for (int q = 0; q < d->pieces; q++)
        done = hs_emit_both(d->builder, done, end[q]);
    return d->outer_done = done;
}

/* A chunk of the vector, and the half of the shared memory that it passes through. */
struct vector_chunk {
    int64_t t, at, bytes;
    int half;
};

static struct vector_chunk chunk_of(const struct dpml *d, int64_t t)
{
    int64_t at = t * d->chunk, left = d->shape->bytes - at;
    return (struct vector_chunk){t, at, left < d->chunk ? left : d->chunk, (int)(t % 2)};
}

static struct hs_span partition(const struct dpml *d, const struct vector_chunk *chunk, int leader)
{
    return hs_span_equal(chunk->bytes, d->shape->unit, d->leaders, leader);
}

/* The position of a partition of the chunk in SHARED, which does not depend on the length of the chunk. */
static struct hs_ref shared_at(const struct dpml *d, const struct vector_chunk *chunk, int leader)
{
    int64_t at = hs_part_equal(d->chunk, d->shape->unit, d->leaders, leader);
    return hs_plus(hs_pipe_place(&d->pipe, chunk->t, 0), at);
}

/* Phase 1: copies this rank's contribution to a chunk into its SHARED. */
static void put_in(struct dpml *d, const struct vector_chunk *chunk)
{
    int last = d->taken[chunk->half];
    for (int j = 0; j < d->leaders; j++) {
        struct hs_span part = partition(d, chunk, j);
        if (j == d->on.me)
            continue;
        int copy = hs_emit_copy(d->builder, shared_at(d, chunk, j), hs_in(chunk->at + part.at), part.count, last);
        hs_after(d->builder, copy, d->builder->signalled); /* the latest SIGNAL follows the previous use of this half */
        if (copy >= 0)
            last = copy;
    }
    hs_emit_signal_next(d->builder, contributed(chunk->t), last, -1);
}

/* Phases 2 and 3, for a leader. OUT contains the sum over the node until the result replaces it. */
static void reduce(struct dpml *d, const struct vector_chunk *chunk)
{
    struct hs_span part = partition(d, chunk, d->on.me);
    struct hs_ref mine = hs_out(chunk->at + part.at);
    struct hs_sum sum;
    if (part.count == 0)
        return;
    hs_sum_begin(&sum, d->builder, d->on.members, part.count, mine, 0, d->summed);
    for (int i = 0; i < d->on.members; i++) {
        if (i == d->on.me) {
            hs_sum_add(&sum, i, hs_in(chunk->at + part.at), -1);
        } else {
            int wait = hs_emit_wait(d->builder, d->on.member[i], contributed(chunk->t));
            hs_sum_add(&sum, i, hs_of(d->on.member[i], shared_at(d, chunk, d->on.me)), wait);
        }
    }
    d->summed = sum.total;
    if (d->outer_scratch < hs_sum_end(&sum))
        d->outer_scratch = hs_sum_end(&sum); /* the first chunk is the longest */
    /* The peers' signals imply that they have copied the previous result from this half. */
    int free = hs_emit_both(d->builder, sum.total, d->taken[chunk->half]);
    int done = between_nodes(d, mine, shared_at(d, chunk, d->on.me), part.count, free);
    hs_emit_signal_next(d->builder, finished(chunk->t), done, -1);
}

/* Phase 4: copies the result to OUT, starting with this rank's partition, so that not all ranks read the same one. */
static void take_out(struct dpml *d, const struct vector_chunk *chunk)
{
    int last = -1;
    for (int i = 0; i < d->leaders; i++) {
        int j = (d->on.me + i) % d->leaders;
        struct hs_span part = partition(d, chunk, j);
        struct hs_ref from = shared_at(d, chunk, j);
        if (part.count == 0)
            continue;
        int ready = j == d->on.me ? d->outer_done : hs_emit_wait(d->builder, d->on.member[j], finished(chunk->t));
        int copy = hs_emit_copy(d->builder, hs_out(chunk->at + part.at),
                                j == d->on.me ? from : hs_of(d->on.member[j], from), part.count, ready);
        hs_after(d->builder, copy, last);
        last = copy;
    }
    d->taken[chunk->half] = last;
}

static void through_shared_memory(struct dpml *d)
{
    struct vector_chunk chunk = chunk_of(d, 0), next;
    put_in(d, &chunk);
    for (; chunk.bytes > 0; chunk = next) {
        next = chunk_of(d, chunk.t + 1);
        if (next.bytes > 0)
            put_in(d, &next);
        if (leads(d))
            reduce(d, &chunk);
        take_out(d, &chunk);
    }
}

static void by_messages(struct dpml *d)
{
    struct vector_chunk all = {.bytes = d->shape->bytes};
    struct hs_span none = {0, 0}, own = leads(d) ? partition(d, &all, d->on.me) : none;
    int sent = -1, done = -1, n = d->on.members;
    struct hs_sum sum;

    hs_sum_begin(&sum, d->builder, n, own.count, hs_scratch(0), own.count, -1);
    if (leads(d))
        hs_sum_add(&sum, d->on.me, hs_in(own.at), -1);
    for (int i = 1; i < n; i++) {
        int to = (d->on.me - i + n) % n, from = (d->on.me + i) % n;
        if (to < d->leaders) {
            struct hs_span part = partition(d, &all, to);
            hs_emit_send_next(d->builder, d->on.member[to], hs_in(part.at), part.count, -1, &sent);
        }
        if (leads(d))
            hs_sum_receive(&sum, from, d->on.member[from]);
    }
    if (leads(d)) {
        d->outer_scratch = hs_sum_end(&sum);
        done = between_nodes(d, hs_scratch(0), hs_out(own.at), own.count, sum.total);
    }
    for (int i = 1; i < n; i++) {
        int to = (d->on.me - i + n) % n, from = (d->on.me + i) % n;
        hs_emit_send_next(d->builder, d->on.member[to], hs_out(own.at), own.count, -1, &done);
        if (from < d->leaders) {
            struct hs_span part = partition(d, &all, from);
            hs_emit_recv(d->builder, d->on.member[from], hs_out(part.at), part.count, -1);
        }
    }
}

/* Emits all phases, with the caller's rows inside the node. Emits nothing and returns 0 if these do not fit. */
static int by_stages(struct dpml *d)
{
    int64_t *part = hs_builder_get(d->builder, (size_t)d->on.members + 1, sizeof *part), scratch = 0;
    for (int i = 0; part && i <= d->on.members; i++)
        part[i] = hs_part_equal(d->shape->bytes, d->shape->unit, d->leaders, hs_min(i, d->leaders));
    int64_t own = part ? part[d->on.me + 1] - part[d->on.me] : 0;
    struct hs_stage sum = {.collective = HS_REDUCE_SCATTER,
                           .rank = d->on.member,
                           .size = d->on.members,
                           .me = d->on.me,
                           .bytes = d->shape->bytes,
                           .part = part,
                           .in = hs_in(0),
                           .out = hs_scratch(0),
                           .direct = 1,
                           .stages = 2,
                           .after = -1};
    struct hs_stage share = sum;
    share.collective = HS_ALLGATHER;
    share.in = hs_scratch(own);
    share.out = hs_out(0);
    share.number = 1;
    if (!part || !hs_stage_is_named(d->builder, d->shape, &sum) || !hs_stage_is_named(d->builder, d->shape, &share))
        return 0;
    scratch = 2 * own;
    share.after = hs_emit_stage(d->builder, d->shape, &sum, &scratch);
    d->outer_scratch = scratch;
    if (leads(d) && own > 0)
        share.after = between_nodes(d, sum.out, share.in, own, share.after);
    scratch = 2 * own;
    hs_emit_stage(d->builder, d->shape, &share, &scratch);
    return 1;
}

/* The bytes of a chunk: the vector, or half of the shared memory; 0 if there is too little shared memory. */
static int64_t chunk_bytes(const struct hs_shape *shape, int64_t shared_bytes)
{
    if (shape->bytes <= shared_bytes)
        return shape->bytes;
    int64_t half = shared_bytes / 2 / shape->unit * shape->unit;
    return half > 0 && shape->bytes / half < MOST_CHUNKS ? half : 0;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct dpml d = {.builder = builder, .shape = shape, .outer = *shape, .on = hs_two_levels(builder, shape)};
    const struct hs_division *division = d.on.division;
    struct hs_topology without = {.size = 0};
    int64_t shared_bytes = shape->topology ? shape->topology->shared_bytes : 0;
    if (shape->topology) {
        without = *shape->topology;
        without.shared_bytes = without.direct = 0;
        d.outer.topology = &without;
    }
    d.leaders = shape->with.leaders > 0 ? shape->with.leaders : DEFAULT_LEADERS;
    d.pieces = shape->with.pieces > 0 ? shape->with.pieces : 1;
    d.outer_done = d.summed = d.taken[0] = d.taken[1] = -1;
    for (int i = 0; i < d.on.nodes; i++)
        d.leaders = d.leaders < hs_division_size(division, i) ? d.leaders : hs_division_size(division, i);
    d.peers = hs_builder_get(builder, (size_t)d.on.nodes, sizeof *d.peers);
    for (int i = 0; d.peers && leads(&d) && i < d.on.nodes; i++)
        d.peers[i] = hs_part_rank(division, i, d.on.me);
    if (!d.peers || !d.on.nodes)
        return;
    if (shape->with.inner && shape->with.inner->flags & HS_BY_MPI)
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED); /* phases 1, 2 and 4 have parts of different lengths */
    int alone = d.on.nodes == shape->size;                /* one rank per node, so shared memory is not used */
    d.chunk = shared_bytes > 0 && !alone ? chunk_bytes(shape, shared_bytes) : 0;
    if (d.on.members == 1 && d.chunk == 0)
        d.chunk = shape->bytes;
    d.pipe = (struct hs_pipe){.builder = builder, .pitch = d.chunk, .slots = 2, .places = 1};
    if (d.on.members == 1)
        for (int64_t t = 0; t * d.chunk < shape->bytes; t++)
            between_nodes(&d, hs_in(t * d.chunk), hs_out(t * d.chunk), chunk_of(&d, t).bytes, -1);
    else if (d.chunk == 0)
        by_messages(&d);
    else if (!shape->with.inner || d.chunk < shape->bytes || !by_stages(&d))
        through_shared_memory(&d);
}

HS_ALG(HS_ALLREDUCE, allreduce_dpml, "dpml", .build = build,
       .flags = HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_KNOWS_NODES | HS_USES_LEADERS | HS_USES_PIECES | HS_USES_LEVEL |
                HS_USES_OUTER | HS_USES_INNER,
       .doc = "l leaders per node, each of which reduces a part of the vector with k pieces in flight; Bayatpour et "
              "al., DPML (SC17), Sections 4.1 and 4.2");
