/*
 * Reduce-scatter on one node, in buffers in the memory of all ranks: every rank copies its share of each part into its
 * own place in the memory of the part's rank, which adds up all of them, in the order of the ranks.  Parts that do not
 * fit go through the buffers in pieces, two at a time, so that one is copied in while the other is summed.
 *
 * Cost per rank with s pieces of equal parts: s (q-1) copies and (1 - 1/q) m bytes copied, s REDUCEs of q vectors and
 * (1 - 1/q) m summed, s signals.  What Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), do in
 * the memory of rank 0 (Section 3.1), done by all.
 */
#include "coll/pattern/rounds.h"
#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

enum { SCATTER_SLOTS = 2 };

struct buffer_scatter {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct hs_pieces cut;
    struct hs_ref *operand;
};

static const char *unfit(const struct hs_shape *shape)
{
    return hs_unfit_places(shape, shape->size - 1);
}

/* In the SHARED of `owner`, where `rank` puts its share. */
static struct hs_ref place_of(const struct buffer_scatter *s, int64_t piece, int owner, int rank)
{
    int place = rank - (rank > owner);
    return hs_shared((piece % SCATTER_SLOTS * (s->shape->size - 1) + place) * s->cut.pitch);
}

/* Shares for the others, beginning behind the own rank: not all for the same one. */
static int put(void *state, int64_t piece, int after)
{
    const struct buffer_scatter *s = state;
    int size = s->shape->size, me = s->shape->rank, first = s->builder->list.steps;
    for (int i = 1; i < size; i++) {
        int owner = (me + i) % size;
        int64_t at = hs_piece_at(&s->cut, owner, piece), count = hs_piece_at(&s->cut, owner, piece + 1) - at;
        int copy = hs_emit_copy(s->builder, hs_of(owner, place_of(s, piece, owner, me)), hs_in(at), count);
        hs_after(s->builder, copy, after);
    }
    return hs_emit_join_copies(s->builder, first, -1);
}

static int add(void *state, int64_t piece, int after)
{
    const struct buffer_scatter *s = state;
    int me = s->shape->rank;
    int64_t at = hs_piece_at(&s->cut, me, piece), count = hs_piece_at(&s->cut, me, piece + 1) - at;
    for (int r = 0; r < s->shape->size; r++)
        s->operand[r] = r == me ? hs_in(at) : place_of(s, piece, me, r);
    return hs_emit_sum_chain(s->builder, hs_out(at - hs_part_at(s->shape, me)), s->operand, s->shape->size, count,
                             after);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct buffer_scatter s = {.builder = builder, .shape = shape};
    s.cut = hs_cut_parts(shape, shape->size - 1);
    s.operand = hs_builder_get(builder, (size_t)shape->size, sizeof *s.operand);
    if (s.operand)
        hs_emit_rounds(builder, shape, s.cut.pieces, put, add, &s);
}

HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: all copy their shares of a part into its rank's memory, which sums them at once");
