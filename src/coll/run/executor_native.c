/* Collectives performed by MPI, for the rows "mpi". */
#include "coll/run/executor.h"
#include "coll/schedule/registry.h"

#include <limits.h>

/* Converts the bytes of an MPI step into a number of elements. */
static int elements(const struct hs_native *native, int64_t bytes, int *count)
{
    int size = 0;
    if (MPI_Type_size(native->type, &size) != MPI_SUCCESS || size < 1 || bytes / size > INT_MAX)
        return MPI_ERR_COUNT;
    *count = (int)(bytes / size);
    return MPI_SUCCESS;
}

int hs_native_start(const struct hs_native *native, const struct hs_step *step, void *const *slot, MPI_Request *request)
{
    int count = 0, code = elements(native, step->count, &count), rank = 0;
    const char *in = (const char *)slot[HS_IN] + (slot[HS_IN] ? step->left.at : 0);
    char *out = (char *)slot[HS_OUT] + (slot[HS_OUT] ? step->dst.at : 0);
    if (code != MPI_SUCCESS || (code = MPI_Comm_rank(native->comm, &rank)) != MPI_SUCCESS)
        return code;
    switch ((enum hs_collective)native->collective) {
    case HS_BCAST:
        return MPI_Ibcast(out, count, native->type, step->peer, native->comm, request);
    case HS_REDUCE_TO:
        return MPI_Ireduce(in, out, count, native->type, native->op, step->peer, native->comm, request);
    case HS_ALLREDUCE:
        return MPI_Iallreduce(in, out, count, native->type, native->op, native->comm, request);
    case HS_ALLGATHER:
        return MPI_Iallgatherv(in, native->counts[rank], native->type, out, native->counts, native->displacements,
                               native->type, native->comm, request);
    case HS_REDUCE_SCATTER:
        return MPI_Ireduce_scatter(in, out, native->counts, native->type, native->op, native->comm, request);
    case HS_COLLECTIVES:
        break;
    }
    return MPI_ERR_ARG;
}
