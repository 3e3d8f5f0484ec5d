/*
 * Allreduce on one node, in a buffer in the memory of rank 0: all copy their vectors there, rank 0 adds them up, all
 * copy the sum out.  Meant for devices: the p vectors are summed as one piece of work, where a tree has log2 p of them
 * one after the other, but all copies go through one memory and one rank does all sums.
 *
 * Cost: for the buffer's memory 2 (p-1) copies of m bytes, p-1 at a time, and for rank 0 (p-1) m gamma and one more
 * copy; 3 signals deep.  In s chunks (segment, or as the buffer has room for two at a time) the copies of one overlap
 * the sums of another: s p signals.  Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce (EuroMPI/ASIA 2014), Section
 * 3.1; rank 0 need not copy its own vector there, which the paper lets it do.
 */
#include "coll/pattern/shared_buffer.h"
#include "coll/schedule/rows.h"

static const char *unfit(const struct hs_shape *shape)
{
    return hs_unfit_buffer(shape, 1);
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_shared_buffer(builder, shape, 0, 1);
}

HS_ALG(HS_ALLREDUCE, allreduce_shared_buffer, "shared_buffer", .build = build, .unfit = unfit,
       .flags = HS_SUMS_IN_ORDER | HS_KNOWS_NODES | HS_FOR_DEVICES | HS_USES_SEGMENT,
       .doc = "one node: all copy their vectors into rank 0's memory, it sums them at once, all copy the sum; Faraji "
              "and Afsahi (2014), Section 3.1");
