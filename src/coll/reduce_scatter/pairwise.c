/*
 * Reduce-scatter, pairwise: in round i every rank sends to the rank i below it (cyclically) its contribution to that
 * rank's part, and receives a contribution to its own part from the rank i above it. Sums are bracketed as a binary
 * tree over the ranks in order.
 *
 * Cost: (q - 1)(alpha + m/q (beta + gamma)) for equal parts. Scratch memory: about 2 log2 q parts, since sums of
 * adjacent ranges are combined as soon as both are available. Thakur, Rabenseifner and Gropp, Optimization of
 * Collective Communication Operations in MPICH (2005).
 */
#include "coll/pattern/sum_tree.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int rank = shape->rank, size = shape->size, sent = -1;
    struct hs_sum sum;

    hs_sum_begin(&sum, builder, size, hs_part_bytes(shape, rank), hs_out(0), 0, -1);
    hs_sum_add(&sum, rank, hs_in(hs_part_at(shape, rank)), -1);
    for (int i = 1; i < size; i++) {
        int to = (rank - i + size) % size, from = (int)(((int64_t)rank + i) % size);
        hs_emit_send_next(builder, to, hs_in(hs_part_at(shape, to)), hs_part_bytes(shape, to), -1, &sent);
        hs_sum_receive(&sum, from, from);
    }
}

HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_pairwise, "pairwise", .build = build, .flags = HS_SUMS_IN_ORDER,
       .doc = "every rank receives its part from each of the others: at most (q-1)(alpha + m/q (beta + gamma))");
