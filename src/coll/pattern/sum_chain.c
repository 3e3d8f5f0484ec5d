#include "coll/pattern/sum_chain.h"

int hs_emit_wait_all(struct hs_builder *builder, const struct hs_shape *shape, int64_t value, int after)
{
    int first = builder->list.steps, waits = 0;
    for (int r = 0; r < shape->size; r++)
        if (r != shape->rank)
            waits += hs_emit_wait(builder, r, value) >= 0;
    int join = hs_emit_join(builder);
    for (int i = 0; i < waits; i++)
        hs_after(builder, join, first + i);
    hs_after(builder, join, after);
    return join;
}

int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after)
{
    int last = after;
    if (count == 0)
        return -1;
    for (int i = 1; i < operands; i++) {
        int reduce = hs_emit_reduce(builder, dst, i == 1 ? operand[0] : dst, operand[i], count);
        hs_after(builder, reduce, last);
        last = reduce;
    }
    return last;
}

int hs_emit_sum_of_all(struct hs_builder *builder, const struct hs_shape *shape, struct hs_ref dst, int64_t at,
                       int64_t count, int after)
{
    struct hs_ref *operand = hs_builder_get(builder, (size_t)shape->size, sizeof *operand);
    for (int r = 0; operand && r < shape->size; r++)
        operand[r] = r == shape->rank ? hs_in(at) : hs_of(r, hs_in(at));
    return operand ? hs_emit_sum_chain(builder, dst, operand, shape->size, count, after) : -1;
}

int64_t hs_slice_pieces(const struct hs_shape *shape)
{
    enum { MOST_CHAIN_STEPS = 1 << 18, MOST_PIECES = 4, PIECE_BYTES = 256 * 1024 };
    int64_t slice = hs_part_equal(shape->bytes, shape->unit, shape->size, 1), pieces = shape->with.pieces;
    if (pieces < 1)
        pieces = hs_least(slice / PIECE_BYTES, MOST_PIECES);
    pieces = hs_least(hs_least(pieces, slice / shape->unit), MOST_CHAIN_STEPS / shape->size);
    return pieces > 1 ? pieces : 1;
}

static int64_t grain_of(int64_t unit)
{
    return HS_CACHE_LINE % unit ? HS_CACHE_LINE * unit : HS_CACHE_LINE;
}

int64_t hs_place_bytes(int64_t bytes, int64_t unit)
{
    int64_t grain = grain_of(unit);
    return (bytes + grain - 1) / grain * grain;
}

int64_t hs_place_within(int64_t bytes, int64_t unit)
{
    int64_t grain = bytes < grain_of(unit) ? unit : grain_of(unit);
    return bytes / grain * grain;
}
