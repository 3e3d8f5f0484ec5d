/*
 * Reduction to the root over a binary tree of rank intervals: the sum of [a 2^h, (a+1) 2^h) is the sum of its left half
 * op the sum of its right half. The sum of an interval is computed by the root if the interval contains the root, else
 * by its lowest rank. The bracketing is therefore the same for every root, without extra messages.
 *
 * Cost: ceil(log2 q)(alpha + m beta + m gamma). Scratch memory: two vectors.
 */
#include "coll/schedule/rows.h"

static int home_of(const struct hs_shape *shape, int64_t low, int64_t span)
{
    return shape->root >= low && shape->root < low + span ? shape->root : (int)low;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct hs_ref sum = hs_in(0);
    int reduced = -1, merges = 0;

    for (int64_t span = 1; span < shape->size; span *= 2) {
        int64_t low = shape->rank / (2 * span) * (2 * span);
        if (low + span >= shape->size)
            continue; /* the right half is empty */
        int left = home_of(shape, low, span), right = home_of(shape, low + span, span);
        int home = home_of(shape, low, 2 * span);
        if (shape->rank != home) {
            hs_emit_send(builder, home, sum, shape->bytes, reduced);
            return;
        }
        /* Sum and operand alternate between two buffers, so the first two receives can be posted at once. */
        struct hs_ref operand = hs_scratch(merges % 2 * shape->bytes);
        struct hs_ref dst = 2 * span >= shape->size ? hs_out(0) : operand;
        int receive =
            hs_emit_recv(builder, home == left ? right : left, operand, shape->bytes, merges > 1 ? reduced : -1);
        int reduce = home == left ? hs_emit_reduce(builder, dst, sum, operand, shape->bytes, receive)
                                  : hs_emit_reduce(builder, dst, operand, sum, shape->bytes, receive);
        hs_after(builder, reduce, reduced);
        reduced = reduce;
        sum = dst;
        merges++;
    }
}

HS_ALG(HS_REDUCE_TO, reduce_binomial, "binomial", .build = build,
       .flags = HS_LIKE_MPI | HS_TRUE_ROOT | HS_SUMS_IN_ORDER | HS_NESTS,
       .doc = "tree over the ranks in order, same bracketing for every root: ceil(log2 q)(alpha + m beta + m gamma)");
