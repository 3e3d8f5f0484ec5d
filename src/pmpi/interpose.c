/* The MPI functions that this library interposes; the dynamic linker finds them before MPI's. */
#include <stdio.h>
#include <stdlib.h>

#include "pmpi/pmpi.h"

static void count_call(struct pmpi_count *count, long long bytes)
{
    count->calls++;
    count->bytes += bytes;
}

/* Counts a call that is passed on to MPI. */
static void count_passed(enum pmpi_function function, MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    if (pmpi_state.inside)
        return;
    if (type != MPI_DATATYPE_NULL && PMPI_Type_size_x(type, &size))
        size = 0;
    count_call(&pmpi_state.passed[function], count > 0 ? count * size : 0);
}

/* Whether MPI must do the call: the library itself makes it, it is invalid, or it moves nothing. */
static int is_for_mpi(MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    return pmpi_state.inside || count < 1 || type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL;
}

/*
 * Runs the call. Returns 1 if it was served, even if it failed; *error is then MPI's error code. Returns 0 if it was
 * not served on any process, and had no effect.
 */
static int serve(struct pmpi_comm *record, const hsumma_coll *call, enum pmpi_function function, long long bytes,
                 int *error)
{
    hsumma_status status;

    pmpi_state.inside++;
    status = hsumma_coll_run(record->ctx, call);
    pmpi_state.inside--;
    if (status == HSUMMA_ERR_UNSUPPORTED || status == HSUMMA_ERR_OPTION) { /* both are the same on all ranks */
        if (record->rank == 0)
            pmpi_warn(hsumma_message(record->ctx));
        return 0;
    }
    *error = MPI_SUCCESS;
    if (status) {
        PMPI_Comm_call_errhandler(record->comm, MPI_ERR_OTHER);
        *error = MPI_ERR_OTHER;
    }
    count_call(&pmpi_state.served[function], bytes);
    return 1;
}

/* Whether root is valid in a communicator that can be served. Checked before anything collective, because MPI reports a
 * wrong root to one process alone. */
static int is_root(MPI_Comm comm, int root)
{
    int inter = 1, size = 0;

    return !PMPI_Comm_test_inter(comm, &inter) && !inter && !PMPI_Comm_size(comm, &size) && root >= 0 && root < size;
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

static int serve_reduction(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm, enum pmpi_function function, int *error)
{
    hsumma_coll call = {.collective = function == PMPI_REDUCE_CALL ? HSUMMA_REDUCE : HSUMMA_ALLREDUCE,
                        .in = in == MPI_IN_PLACE ? NULL : in,
                        .out = out,
                        .count = count,
                        .root = root};
    MPI_Count size;
    struct pmpi_comm *record;

    int rank = -1;

    if (is_for_mpi(count, type, comm) || !pmpi_operator(op, type, &call.op, &size) || !is_root(comm, root) ||
        PMPI_Comm_rank(comm, &rank))
        return 0;
    if ((in != MPI_IN_PLACE && !in) || (!out && (function == PMPI_ALLREDUCE_CALL || rank == root)) ||
        !(record = pmpi_comm_of(comm)))
        return 0; /* MPI reports the error */
    return serve(record, &call, function, count * size, error);
}

/* --- broadcast ---------------------------------------------------------------------------------------------------- */

/* Replaces MPI_BOTTOM, which MPICH does not pack: returns a type with the same elements relative to the new *buffer. */
static MPI_Datatype from_bottom(MPI_Datatype type, void **buffer)
{
    MPI_Count lower = 0, extent;
    MPI_Aint shift;

    PMPI_Type_get_true_extent_x(type, &lower, &extent);
    shift = -(MPI_Aint)lower;
    *buffer = (void *)(uintptr_t)lower;
    PMPI_Type_create_hindexed_block(1, 1, &shift, type, &type);
    PMPI_Type_commit(&type);
    return type;
}

/* Broadcasts elements with gaps, or out of memory order, through a copy. A process that cannot allocate the copy cannot
 * signal the others. */
static int serve_packed(struct pmpi_comm *record, void *buffer, MPI_Count count, MPI_Datatype type, hsumma_coll *call,
                        int *error)
{
    void *copy = malloc((size_t)call->count);
    MPI_Datatype used = type;
    int served, place = 0;

    if (!copy) {
        PMPI_Comm_call_errhandler(record->comm, MPI_ERR_NO_MEM);
        *error = MPI_ERR_NO_MEM;
        return 1;
    }
    if (buffer == MPI_BOTTOM)
        used = from_bottom(type, &buffer);
    if (record->rank == call->root)
        PMPI_Pack(buffer, (int)count, used, copy, (int)call->count, &place, record->comm);
    call->out = copy;
    served = serve(record, call, PMPI_BCAST_CALL, call->count, error);
    place = 0;
    if (served && *error == MPI_SUCCESS && record->rank != call->root)
        PMPI_Unpack(copy, (int)call->count, &place, buffer, (int)count, used, record->comm);
    if (used != type)
        PMPI_Type_free(&used);
    free(copy);
    return served;
}

static int serve_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, int *error)
{
    hsumma_coll call = {.collective = HSUMMA_BCAST, .out = buffer, .size = 1, .root = root};
    struct pmpi_comm *record;
    MPI_Count size;
    int basic;

    if (is_for_mpi(count, type, comm) || !is_root(comm, root))
        return 0;
    basic = pmpi_is_basic(type, &size);
    if (size < 1 || count > INT32_MAX / size) /* nothing to send, or more than MPI can pack on another process */
        return 0;
    call.count = count * size;
    if ((basic && !buffer) || !(record = pmpi_comm_of(comm)))
        return 0;
    if (!basic)
        return serve_packed(record, buffer, count, type, &call, error);
    return serve(record, &call, PMPI_BCAST_CALL, call.count, error);
}

/* --- MPI's names ----------------------------------------------------------------------------------------------------
 */

/* Defines the functions with 32-bit or 64-bit counts; processes may mix the two in one call. */
#define FUNCTIONS(suffix, integer)                                                                                \
    PMPI_EXPORT int MPI_Allreduce##suffix(const void *in, void *out, integer count, MPI_Datatype type, MPI_Op op, \
                                          MPI_Comm comm)                                                          \
    {                                                                                                             \
        int error;                                                                                                \
        if (serve_reduction(in, out, count, type, op, 0, comm, PMPI_ALLREDUCE_CALL, &error))                      \
            return error;                                                                                         \
        count_passed(PMPI_ALLREDUCE_CALL, count, type);                                                           \
        return PMPI_Allreduce##suffix(in, out, count, type, op, comm);                                            \
    }                                                                                                             \
    PMPI_EXPORT int MPI_Reduce##suffix(const void *in, void *out, integer count, MPI_Datatype type, MPI_Op op,    \
                                       int root, MPI_Comm comm)                                                   \
    {                                                                                                             \
        int error;                                                                                                \
        if (serve_reduction(in, out, count, type, op, root, comm, PMPI_REDUCE_CALL, &error))                      \
            return error;                                                                                         \
        count_passed(PMPI_REDUCE_CALL, count, type);                                                              \
        return PMPI_Reduce##suffix(in, out, count, type, op, root, comm);                                         \
    }                                                                                                             \
    PMPI_EXPORT int MPI_Bcast##suffix(void *buffer, integer count, MPI_Datatype type, int root, MPI_Comm comm)    \
    {                                                                                                             \
        int error;                                                                                                \
        if (serve_bcast(buffer, count, type, root, comm, &error))                                                 \
            return error;                                                                                         \
        count_passed(PMPI_BCAST_CALL, count, type);                                                               \
        return PMPI_Bcast##suffix(buffer, count, type, root, comm);                                               \
    }

FUNCTIONS(, int)
#if MPI_VERSION >= 4
FUNCTIONS(_c, MPI_Count)
#endif

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void say_counts(void)
{
    static const char *const names[PMPI_FUNCTIONS] = {"MPI_Allreduce", "MPI_Reduce", "MPI_Bcast"};
    int rank = 1;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank || !pmpi_is_word("verbose"))
        return;
    for (int f = 0; f < PMPI_FUNCTIONS; f++)
        fprintf(stderr, "hsumma_pmpi: %-13s %10lld calls, %14lld bytes served; %10lld calls, %14lld bytes passed on\n",
                names[f], pmpi_state.served[f].calls, pmpi_state.served[f].bytes, pmpi_state.passed[f].calls,
                pmpi_state.passed[f].bytes);
}

PMPI_EXPORT int MPI_Finalize(void)
{
    say_counts();
    pmpi_comms_free();
    return PMPI_Finalize();
}
