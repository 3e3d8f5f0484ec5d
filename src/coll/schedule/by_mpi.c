/* Row "mpi": sums as MPI brackets them. bcast, reduce and allreduce in pieces below the limit of int counts. */
#include "coll/schedule/rows.h"

enum { MOST_NATIVE_BYTES = 1 << 30 };

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int whole = builder->alg->collective == HS_ALLGATHER || builder->alg->collective == HS_REDUCE_SCATTER;
    int64_t piece = whole                             ? shape->bytes
                    : shape->unit < MOST_NATIVE_BYTES ? MOST_NATIVE_BYTES / shape->unit * shape->unit
                                                      : shape->unit;
    for (int64_t at = 0; at < shape->bytes; at += piece) /* all posted at once, in the same order on all ranks */
        hs_emit_mpi(builder, shape->rank, shape->size, shape->root, at, hs_min(piece, shape->bytes - at));
}

#define BY_MPI(of, symbol, function, more) \
    HS_ALG(of, symbol##_mpi, "mpi", .build = build, .flags = HS_BY_MPI | (more), .doc = "MPI's own " function)

BY_MPI(HS_BCAST, bcast, "MPI_Ibcast", HS_TRUE_ROOT);
BY_MPI(HS_REDUCE_TO, reduce, "MPI_Ireduce", HS_TRUE_ROOT);
BY_MPI(HS_ALLREDUCE, allreduce, "MPI_Iallreduce", 0);
BY_MPI(HS_ALLGATHER, allgather, "MPI_Iallgatherv", 0);
BY_MPI(HS_REDUCE_SCATTER, reduce_scatter, "MPI_Ireduce_scatter", 0);
