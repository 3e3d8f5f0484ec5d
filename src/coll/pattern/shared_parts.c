/*
 * The rows "shared_buffer" of allgather and reduce_scatter: on one node, through buffers in the memory of all ranks.
 * Parts that do not fit pass through the buffers in segments, two at a time: one is written while the other is read.
 *
 * allgather: every rank copies its part into its SHARED, from where the other ranks copy it to their OUT. Cost per rank
 * with s segments of equal parts: s (q+1) copies, (1 + 1/q) m bytes copied, s signals.
 *
 * reduce_scatter: every rank copies its contribution to each part into its own place in the SHARED of the part's owner,
 * which adds up all contributions in rank order. Cost per rank: (1 - 1/q) m bytes copied in s (q-1) COPYs, (1 - 1/q) m
 * bytes summed in s (q-1) REDUCEs, which an executor may fuse into s passes, and s signals. Faraji and Afsahi,
 * GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), perform this in the memory of rank 0 (Section 3.1); here all
 * ranks share the work.
 */
#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

struct parts {
    struct hs_pipe pipe;
    struct hs_ref *operand; /* operands of a sum, indexed by rank */
};

/* The number of places in a slot: for reduce_scatter, one for every other rank. */
static int64_t places_of(const struct hs_alg *alg, const struct hs_shape *shape)
{
    return alg->collective == HS_ALLGATHER ? 1 : shape->size - 1;
}

static const char *unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    const char *why = hs_unfit_shared(alg, shape);
    if (why || shape->bytes == 0)
        return why;
    struct hs_pipe pipe = hs_pipe_cut_parts(shape, places_of(alg, shape));
    return hs_pipe_unfit(&pipe, 4 * (int64_t)shape->size);
}

static int put_part(void *state, int64_t segment, int after)
{
    const struct parts *p = state;
    struct hs_span span = hs_pipe_part(&p->pipe, p->pipe.shape->rank, segment);
    struct hs_ref from = hs_in(span.at - hs_part_at(p->pipe.shape, p->pipe.shape->rank));
    int copy = hs_emit_copy(p->pipe.builder, hs_pipe_place(&p->pipe, segment, 0), from, span.count, after);
    return copy < 0 ? after : copy;
}

/* Copies a segment of all parts to OUT, the next rank's first, so that ranks read different ones; its own from IN. */
static int take_parts(void *state, int64_t segment, int after)
{
    const struct parts *p = state;
    int size = p->pipe.shape->size, me = p->pipe.shape->rank, first = p->pipe.builder->list.steps;
    for (int i = 1; i <= size; i++) {
        int rank = (me + i) % size;
        struct hs_span span = hs_pipe_part(&p->pipe, rank, segment);
        struct hs_ref from = rank == me ? hs_in(span.at - hs_part_at(p->pipe.shape, me))
                                        : hs_of(rank, hs_pipe_place(&p->pipe, segment, 0));
        hs_emit_copy(p->pipe.builder, hs_out(span.at), from, span.count, after);
    }
    return hs_emit_join_of(p->pipe.builder, HS_COPY, first, -1);
}

/* The position of the contribution of `rank` in the SHARED of `owner`. */
static struct hs_ref share_at(const struct parts *p, int64_t segment, int owner, int rank)
{
    return hs_pipe_place(&p->pipe, segment, rank - (rank > owner));
}

/* Copies contributions to the owners' SHARED, the next rank's first, so that not all ranks write to one at once. */
static int put_shares(void *state, int64_t segment, int after)
{
    const struct parts *p = state;
    int size = p->pipe.shape->size, me = p->pipe.shape->rank, first = p->pipe.builder->list.steps;
    for (int i = 1; i < size; i++) {
        int owner = (me + i) % size;
        struct hs_span span = hs_pipe_part(&p->pipe, owner, segment);
        struct hs_ref to = hs_of(owner, share_at(p, segment, owner, me));
        hs_emit_copy(p->pipe.builder, to, hs_in(span.at), span.count, after);
    }
    return hs_emit_join_of(p->pipe.builder, HS_COPY, first, -1);
}

static int add_shares(void *state, int64_t segment, int after)
{
    const struct parts *p = state;
    int me = p->pipe.shape->rank;
    struct hs_span span = hs_pipe_part(&p->pipe, me, segment);
    for (int r = 0; r < p->pipe.shape->size; r++)
        p->operand[r] = r == me ? hs_in(span.at) : share_at(p, segment, me, r);
    return hs_emit_sum_chain(p->pipe.builder, hs_out(span.at - hs_part_at(p->pipe.shape, me)), p->operand,
                             p->pipe.shape->size, span.count, after);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct parts p = {hs_pipe_cut_parts(shape, places_of(builder->alg, shape)), NULL};
    int gather = builder->alg->collective == HS_ALLGATHER;
    p.pipe.builder = builder;
    p.operand = hs_builder_get(builder, (size_t)shape->size, sizeof *p.operand);
    if (p.operand)
        hs_emit_rounds(&p.pipe, gather ? put_part : put_shares, gather ? take_parts : add_shares, &p);
}

HS_ALG(HS_ALLGATHER, allgather_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: every rank copies its part into shared memory, and copies the others' parts from there");
HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: every rank copies its share of each part into the memory of the part's owner, which sums them "
              "in one pass");
