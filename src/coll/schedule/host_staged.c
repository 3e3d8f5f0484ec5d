/*
 * Collectives on device memory through host memory: copy to the host, perform the collective there, copy back. The
 * executor does the copies (HS_ON_HOST); the list is that of the collective's default row for host memory: "shared" if
 * the collective has this row and it fits, else the safe row. On host memory the executor runs the same list without
 * copies.
 *
 * Cost: that of the default row, plus copies of at most m bytes to the host and m bytes back. MPI libraries treat
 * device memory in this way, and it is the baseline in Faraji and Afsahi, GPU-Aware Intranode MPI_Allreduce
 * (EuroMPI/ASIA 2014), Section 3. Their variant with buffers in host memory (Section 3.3) only stages data there;
 * these rows also sum there.
 */
#include "coll/pattern/embed.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    const struct hs_alg *alg = hs_alg_shared(builder->alg->collective);
    const struct hs_embedding embedding = {.in = hs_in(0), .out = hs_out(0), .after = -1};
    if (!alg || hs_alg_unfit(alg, shape))
        alg = hs_alg_safe(builder->alg->collective);
    hs_embed(builder, alg, shape, &embedding, NULL);
}

#define STAGED(of, symbol, more)                                                                                   \
    HS_ALG(of, symbol##_host_staged, "host_staged", .build = build, .flags = HS_KNOWS_NODES | HS_ON_HOST | (more), \
           .doc = "device memory is copied to host memory and back, where the default algorithm for the host runs")

STAGED(HS_BCAST, bcast, HS_TRUE_ROOT);
STAGED(HS_REDUCE_TO, reduce, HS_TRUE_ROOT | HS_SUMS_IN_ORDER);
STAGED(HS_ALLREDUCE, allreduce, HS_SUMS_IN_ORDER);
STAGED(HS_ALLGATHER, allgather, 0);
STAGED(HS_REDUCE_SCATTER, reduce_scatter, HS_SUMS_IN_ORDER);
