#include "coll/pattern/sum_chain.h"

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
