#include "coll/sum_chain.h"

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
    if (operands == 1) {
        last = hs_emit_copy(builder, dst, operand[0], count);
        hs_after(builder, last, after);
    }
    for (int i = 1; i < operands; i++) {
        int reduce = hs_emit_reduce(builder, dst, i == 1 ? operand[0] : dst, operand[i], count);
        hs_after(builder, reduce, last);
        last = reduce;
    }
    return last;
}

int64_t hs_place_bytes(int64_t bytes, int64_t unit)
{
    enum { LINE = 64 };
    int64_t grain = LINE % unit ? LINE * unit : LINE;
    return (bytes + grain - 1) / grain * grain;
}
