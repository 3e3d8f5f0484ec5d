/*
 * The rows "exact": sums whose bits depend on neither the number of ranks nor their order, placement, or the row's
 * parameter. A partial sum would be rounded, so no rank computes one: each element's contributions of all ranks are
 * brought to one rank, or to all, which combines them in one EXACT step (base/exact.c).
 *
 *   - allreduce and reduce of up to b bytes: an allgather of the whole vectors; the ranks that need the result compute
 *     all of it. Its row is bruck or, if the ranks share memory, shared_buffer.
 *   - longer vectors, and reduce_scatter: every rank gets all contributions to its own part, directly from the others'
 *     IN if ranks of one node can read it, otherwise by messages; it combines them. An allreduce ends with an allgather
 *     of the parts, a reduction with a message from each rank to the root.
 *
 * Cost over messages, where gamma is the time to add a byte in an EXACT step: up to b bytes ceil(log2 q) alpha +
 * (q-1) m beta + q m gamma; longer vectors 2(q-1) alpha + 2 (1 - 1/q) m beta + m gamma. The traffic of the latter is
 * the least that an allreduce can have; that of partial sums without rounding would be longer, since they need more
 * bits. Scratch memory: up to b bytes q + 1 vectors, else one vector (a reduction: and one part).
 */
#include "coll/pattern/embed.h"
#include "coll/pattern/pipeline.h"
#include "coll/pattern/ring.h"
#include "coll/schedule/rows.h"

/* Default of b: the bytes that a rank receives if vectors are gathered whole. */
enum { GATHERED_BYTES = 64 * 1024 };

struct exact {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    int direct;      /* true if ranks read the others' IN and OUT */
    int64_t at, own; /* offset and bytes of the rank's part */
};

/* The signals of direct mode: IN and OUT may be read; the part of the sum is in OUT; no peer's memory is read any more.
 */
enum { ENTERED = 1, SUMMED, DONE };

/* An allgather of the vectors to SCRATCH, and the combination of all of them. */
static void build_whole(const struct exact *e, int needs_result)
{
    const struct hs_shape *shape = e->shape;
    const struct hs_alg *row = &hs_alg_allgather_shared_buffer;
    struct hs_shape gather = {.rank = shape->rank,
                              .size = shape->size,
                              .bytes = shape->size * shape->bytes,
                              .unit = shape->unit,
                              .topology = shape->topology};
    const struct hs_embedding into = {
        .in = hs_in(0), .out = hs_scratch(0), .scratch = shape->size * shape->bytes, .after = -1};
    if (hs_alg_unfit(row, &gather))
        row = &hs_alg_allgather_bruck;
    int gathered = hs_embed(e->builder, row, &gather, &into, NULL);
    if (needs_result)
        hs_emit_exact(e->builder, hs_out(0), hs_scratch(0), shape->size, shape->bytes, gathered);
}

/* Brings all contributions to the rank's part to SCRATCH, in the order of the ranks. Returns a JOIN after that. */
static int gather_part(const struct exact *e)
{
    int rank = e->shape->rank, size = e->shape->size, sent = -1, before = -1;
    if (e->direct) {
        hs_expose(e->builder);
        hs_emit_signal_next(e->builder, ENTERED, -1, -1);
        before = hs_emit_wait_all(e->builder, e->shape, ENTERED, e->builder->signalled);
    }
    int first = e->builder->list.steps;
    for (int i = 0; i < size; i++) { /* as in the reduce-scatter pairwise: to the rank i below, from the rank i above */
        int to = (rank - i + size) % size, from = (int)(((int64_t)rank + i) % size);
        struct hs_ref place = hs_scratch(from * e->own);
        if (e->direct && from != rank) {
            hs_emit_copy(e->builder, place, hs_of(from, hs_in(e->at)), e->own, before);
        } else if (from == rank) {
            int copied = hs_emit_copy(e->builder, place, hs_in(e->at), e->own, -1);
            before = e->direct ? before : copied;
        } else {
            hs_emit_send_next(e->builder, to, hs_in(hs_part_at(e->shape, to)), hs_part_bytes(e->shape, to), -1, &sent);
            hs_emit_recv(e->builder, from, place, e->own, -1);
        }
    }
    return hs_emit_join_of(e->builder, e->direct ? HS_COPY : HS_RECV, first, before);
}

/* Sends the parts of the sum to the root. */
static void send_parts(const struct exact *e, struct hs_ref part, int summed)
{
    int root = e->shape->root;
    if (e->shape->rank != root)
        hs_emit_send(e->builder, root, part, e->own, summed);
    for (int r = 0; r < e->shape->size && e->shape->rank == root; r++)
        if (r != root)
            hs_emit_recv(e->builder, r, hs_out(hs_part_at(e->shape, r)), hs_part_bytes(e->shape, r), -1);
}

/* Copies the other parts of the sum from their owners' OUT, beginning with the next rank's. Returns a JOIN. */
static int copy_parts(const struct exact *e, int summed)
{
    int first = e->builder->list.steps, size = e->shape->size;
    hs_emit_signal_next(e->builder, SUMMED, e->builder->signalled, summed);
    for (int i = 1; i < size; i++) {
        int from = (int)(((int64_t)e->shape->rank + i) % size);
        struct hs_ref part = hs_out(hs_part_at(e->shape, from));
        int ready = hs_emit_wait(e->builder, from, SUMMED);
        hs_emit_copy(e->builder, part, hs_of(from, part), hs_part_bytes(e->shape, from), ready);
    }
    return hs_emit_join_of(e->builder, HS_COPY, first, summed);
}

static void build_parts(const struct exact *e)
{
    enum hs_collective collective = e->builder->alg->collective;
    int at_root = collective != HS_REDUCE_TO || e->shape->rank == e->shape->root;
    struct hs_ref part = !at_root                          ? hs_scratch(e->shape->size * e->own)
                         : collective == HS_REDUCE_SCATTER ? hs_out(0)
                                                           : hs_out(e->at);
    int gathered = gather_part(e), done = gathered;
    int summed = hs_emit_exact(e->builder, part, hs_scratch(0), e->shape->size, e->own, gathered);
    if (collective == HS_REDUCE_TO)
        send_parts(e, part, summed);
    else if (collective == HS_ALLREDUCE && e->direct)
        done = copy_parts(e, summed);
    else if (collective == HS_ALLREDUCE)
        hs_emit_ring(e->builder, e->shape, NULL, HS_OUT, summed);
    if (e->direct) { /* until no rank reads IN or OUT any longer */
        hs_emit_signal_next(e->builder, DONE, e->builder->signalled, done);
        hs_emit_wait_all(e->builder, e->shape, DONE, e->builder->signalled);
    }
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_shape mine = *shape;
    enum hs_collective collective = builder->alg->collective;
    int64_t most_whole = shape->with.threshold ? shape->with.threshold : GATHERED_BYTES / shape->size;
    if (shape->size == 1) {
        hs_emit_exact(builder, hs_out(0), hs_in(0), 1, shape->bytes, -1);
        return;
    }
    if (collective != HS_REDUCE_SCATTER)
        mine.part = NULL; /* equal parts */
    struct exact e = {.builder = builder,
                      .shape = &mine,
                      .direct = !hs_unfit_spread(builder->alg, shape),
                      .at = hs_part_at(&mine, mine.rank),
                      .own = hs_part_bytes(&mine, mine.rank)};
    if (collective != HS_REDUCE_SCATTER && shape->bytes <= most_whole)
        build_whole(&e, collective == HS_ALLREDUCE || shape->rank == shape->root);
    else
        build_parts(&e);
}

#define FLAGS (HS_UNIFORM | HS_KNOWS_NODES | HS_EXACT_SUMS)
HS_ALG(HS_REDUCE_TO, reduce_exact, "exact", .build = build, .flags = FLAGS | HS_TRUE_ROOT | HS_USES_THRESHOLD,
       .doc = "every rank gets all contributions to its part (up to b bytes: to the whole), and rounds their exact sum "
              "once; the same bits for any number of ranks");
HS_ALG(HS_ALLREDUCE, allreduce_exact, "exact", .build = build, .flags = FLAGS | HS_USES_THRESHOLD,
       .doc = "every rank gets all contributions to its part (up to b bytes: to the whole), and rounds their exact sum "
              "once; the same bits for any number of ranks");
HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_exact, "exact", .build = build, .flags = FLAGS,
       .doc = "every rank gets all contributions to its part, and rounds their exact sum once; the same bits for any "
              "number of ranks");
