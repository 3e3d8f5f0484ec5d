/* Collectives performed by MPI, for the rows "mpi", and by functions of the caller. */
#include "coll/run/executor.h"
#include "coll/schedule/registry.h"

#include <limits.h>

/* The MPI datatype and operator of a collective; MPI_BYTE if it does not reduce. */
struct native_type {
    MPI_Datatype type;
    MPI_Op op;
};

static struct native_type type_of(enum hs_collective collective, const hsumma_operator *operation)
{
    const MPI_Datatype types[] = {[HSUMMA_FLOAT] = MPI_FLOAT,
                                  [HSUMMA_DOUBLE] = MPI_DOUBLE,
                                  [HSUMMA_FLOAT_COMPLEX] = MPI_C_FLOAT_COMPLEX,
                                  [HSUMMA_DOUBLE_COMPLEX] = MPI_C_DOUBLE_COMPLEX,
                                  [HSUMMA_INT32] = MPI_INT32_T,
                                  [HSUMMA_INT64] = MPI_INT64_T};
    const MPI_Op ops[] = {[HSUMMA_SUM] = MPI_SUM, [HSUMMA_MAX] = MPI_MAX, [HSUMMA_MIN] = MPI_MIN};
    if (collective == HS_BCAST || collective == HS_ALLGATHER)
        return (struct native_type){MPI_BYTE, MPI_OP_NULL};
    return (struct native_type){types[operation->element], ops[operation->op]};
}

/* Converts the bytes of an MPI step into a number of elements. */
static int elements(MPI_Datatype type, int64_t bytes, int *count)
{
    int size = 0;
    if (MPI_Type_size(type, &size) != MPI_SUCCESS || size < 1 || bytes / size > INT_MAX)
        return MPI_ERR_COUNT;
    *count = (int)(bytes / size);
    return MPI_SUCCESS;
}

static int perform(const struct hs_binding *bound, const struct hs_step *step, const void *in, void *out,
                   MPI_Request *request)
{
    const struct hs_joint *joint = &bound->list->joint[step->peer];
    int bcast = joint->alg->collective == HS_BCAST;
    const hsumma_stage stage = {.comm = bound->native[step->peer].comm,
                                .in = bcast ? NULL : in,
                                .out = bcast && in ? (void *)(uintptr_t)in : out, /* the root's buffer is only read */
                                .count = step->count / bound->unit,
                                .size = (size_t)bound->unit,
                                .op = bcast ? (hsumma_operator){.op = HSUMMA_SUM} : *bound->operation,
                                .root = joint->root};
    *request = MPI_REQUEST_NULL;
    return joint->alg->performer->perform(&stage, request, joint->alg->performer->state);
}

int hs_native_start(const struct hs_binding *bound, const struct hs_step *step, const void *in, void *out,
                    MPI_Request *request)
{
    const struct hs_joint *joint = &bound->list->joint[step->peer];
    const struct hs_native *native = &bound->native[step->peer];
    enum hs_collective collective = joint->alg->collective;
    int count = 0, rank = 0;
    if (joint->alg->performer)
        return perform(bound, step, in, out, request);
    struct native_type as = type_of(collective, bound->operation);
    int code = elements(as.type, step->count, &count);
    if (code != MPI_SUCCESS || (code = MPI_Comm_rank(native->comm, &rank)) != MPI_SUCCESS)
        return code;
    if (in && in == out)
        in = MPI_IN_PLACE;
    switch (collective) {
    case HS_BCAST:
        return MPI_Ibcast(out ? out : (void *)(uintptr_t)in, count, as.type, joint->root, native->comm, request);
    case HS_REDUCE_TO:
        return MPI_Ireduce(in, out, count, as.type, as.op, joint->root, native->comm, request);
    case HS_ALLREDUCE:
        return MPI_Iallreduce(in, out, count, as.type, as.op, native->comm, request);
    case HS_ALLGATHER:
        return MPI_Iallgatherv(in, native->counts[rank], as.type, out, native->counts, native->displacements, as.type,
                               native->comm, request);
    case HS_REDUCE_SCATTER:
        return MPI_Ireduce_scatter(in, out, native->counts, as.type, as.op, native->comm, request);
    case HS_COLLECTIVES:
        break;
    }
    return MPI_ERR_ARG;
}
