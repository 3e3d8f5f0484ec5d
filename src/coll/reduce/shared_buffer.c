/*
 * Reduction to the root on one node, in a buffer in the root's memory: the first half of allreduce "shared_buffer".
 * The others copy their vectors there, the root adds them up, in the order of the ranks whatever the root.
 *
 * Cost: p-1 copies of m bytes at a time into one memory, (p-1) m gamma for the root, 1 signal deep; in s chunks
 * (segment, or as the buffer has room for two at a time) the copies of one overlap the sums of another.  Faraji and
 * Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), Section 3.1, steps 1 to 4.
 */
#include "coll/pattern/shared_buffer.h"
#include "coll/schedule/rows.h"

static const char *unfit(const struct hs_shape *shape)
{
    return hs_unfit_buffer(shape, 0);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_shared_buffer(builder, shape, shape->root, 0);
}

HS_ALG(HS_REDUCE_TO, reduce_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_TRUE_ROOT | HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES | HS_USES_SEGMENT,
       .doc = "one node: all copy their vectors into the root's memory, which sums them at once; Faraji and Afsahi "
              "(2014), Section 3.1");
