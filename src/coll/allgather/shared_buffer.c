/*
 * Allgather on one node, in buffers in the memory of all ranks: every rank copies its part into its SHARED, and the
 * others copy it out.  Parts that do not fit go through the buffers in pieces, two at a time, so that one is copied in
 * while the other is copied out.
 *
 * Cost per rank with s pieces of equal parts: s q copies and (1 + 1/q) m bytes copied, s signals.
 */
#include "coll/pattern/rounds.h"
#include "coll/schedule/rows.h"

enum { GATHER_SLOTS = 2 };

struct buffer_gather {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct hs_pieces cut;
};

static const char *unfit(const struct hs_shape *shape)
{
    return hs_unfit_places(shape, 1);
}

static struct hs_ref slot_of(const struct buffer_gather *g, int64_t piece)
{
    return hs_shared(piece % GATHER_SLOTS * g->cut.pitch);
}

static int put(void *state, int64_t piece, int after)
{
    const struct buffer_gather *g = state;
    int me = g->shape->rank;
    int64_t at = hs_piece_at(&g->cut, me, piece), count = hs_piece_at(&g->cut, me, piece + 1) - at;
    int copy = hs_emit_copy(g->builder, slot_of(g, piece), hs_in(at - hs_part_at(g->shape, me)), count);
    hs_after(g->builder, copy, after);
    return copy < 0 ? after : copy;
}

/* Beginning behind the own rank: not all at the same one; the own part from where it is. */
static int take(void *state, int64_t piece, int after)
{
    const struct buffer_gather *g = state;
    int size = g->shape->size, me = g->shape->rank, first = g->builder->list.steps;
    for (int i = 1; i <= size; i++) {
        int rank = (me + i) % size;
        int64_t at = hs_piece_at(&g->cut, rank, piece), count = hs_piece_at(&g->cut, rank, piece + 1) - at;
        struct hs_ref from = rank == me ? hs_in(at - hs_part_at(g->shape, me)) : hs_of(rank, slot_of(g, piece));
        int copy = hs_emit_copy(g->builder, hs_out(at), from, count);
        hs_after(g->builder, copy, after);
    }
    return hs_emit_join_copies(g->builder, first, -1);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct buffer_gather g = {.builder = builder, .shape = shape};
    g.cut = hs_cut_parts(shape, 1);
    hs_emit_rounds(builder, shape, g.cut.pieces, put, take, &g);
}

HS_ALG(HS_ALLGATHER, allgather_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_KNOWS_NODES | HS_FOR_DEVICES,
       .doc = "one node: all copy their parts into their shared memory, and the others' out of it");
