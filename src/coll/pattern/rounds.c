#include "coll/pattern/rounds.h"

#include "coll/pattern/sum_chain.h"
#include "coll/schedule/rows.h"

enum { ROUND_SLOTS = 2 };

void hs_emit_rounds(struct hs_builder *builder, const struct hs_shape *shape, int64_t pieces, hs_round *put,
                    hs_round *work, void *state)
{
    int ready = -1, signal = -1;
    for (int64_t piece = 0; piece <= pieces; piece++) {
        int is_put = piece < pieces ? put(state, piece, piece >= ROUND_SLOTS ? ready : -1) : -1;
        int done = piece > 0 ? work(state, piece - 1, ready) : -1;
        if (piece == pieces)
            return;
        int before = signal;
        signal = hs_emit_signal(builder, piece + 1);
        hs_after(builder, signal, is_put);
        hs_after(builder, signal, done);
        hs_after(builder, signal, before);
        ready = hs_emit_wait_all(builder, shape, piece + 1, signal);
    }
}

int hs_emit_join_copies(struct hs_builder *builder, int first, int after)
{
    int join = hs_emit_join(builder);
    for (int i = first; i < join; i++)
        if (builder->list.step[i].kind == HS_COPY)
            hs_after(builder, join, i);
    hs_after(builder, join, after);
    return join;
}

struct hs_pieces hs_cut_parts(const struct hs_shape *shape, int places)
{
    struct hs_pieces cut = {.shape = shape};
    int64_t shared_bytes = shape->topology->shared_bytes, unit = shape->unit, longest = unit;
    for (int r = 0; r < shape->size; r++) {
        int64_t bytes = hs_part_at(shape, r + 1) - hs_part_at(shape, r);
        longest = bytes > longest ? bytes : longest;
    }
    int64_t most = longest;
    if (hs_place_bytes(longest, unit) > shared_bytes / places)
        most = hs_least(longest, hs_place_within(shared_bytes / ROUND_SLOTS / places, unit));
    if (most == 0)
        return cut;
    cut.pieces = (longest + most - 1) / most;
    cut.pitch =
        hs_least(hs_place_bytes(most, unit), shared_bytes / (cut.pieces > 1 ? ROUND_SLOTS : 1) / places / unit * unit);
    return cut;
}

int64_t hs_piece_at(const struct hs_pieces *pieces, int rank, int64_t piece)
{
    int64_t at = hs_part_at(pieces->shape, rank), bytes = hs_part_at(pieces->shape, rank + 1) - at;
    return at + hs_part_equal(bytes, pieces->shape->unit, pieces->pieces, piece);
}

const char *hs_unfit_places(const struct hs_shape *shape, int places)
{
    const char *why = hs_unfit_shared(shape);
    if (why || shape->bytes == 0)
        return why;
    struct hs_pieces cut = hs_cut_parts(shape, places);
    if (cut.pitch == 0)
        return "there is too little shared memory for so many ranks";
    return cut.pieces > HS_MOST_STEPS / 4 / shape->size ? "there is too little shared memory for so long a vector"
                                                        : NULL;
}
