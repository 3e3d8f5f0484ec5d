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
    for (int i = 1; i < operands; i++)
        last = hs_emit_reduce(builder, dst, i == 1 ? operand[0] : dst, operand[i], count, last);
    return last;
}
