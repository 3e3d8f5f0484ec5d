/* The MPI functions that this library interposes; the dynamic linker finds them before MPI's. */
#include <stdio.h>
#include <stdlib.h>

#include "api/other_mpi.h"
#include "pmpi/pmpi.h"

__attribute__((constructor)) static void leave_other_mpi(int argc, char **argv)
{
    (void)argc;
    hs_leave_other_mpi("hsumma_pmpi: no call is served", "libhsumma_pmpi.so", argv);
}

/*
 * Whether MPI must perform the call, because this library makes the call itself, an argument is invalid, no data move,
 * or MPI_COMM_SELF does not exist (pmpi_self). An error that one rank can find alone must reach MPI before anything
 * collective begins: MPI reports it on that rank only, and the other ranks may never make the call.
 */
static int is_for_mpi(MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    return pmpi_state.inside || count < 1 || type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL ||
           pmpi_self() == MPI_COMM_NULL;
}

/*
 * Invokes the communicator's error handler for a served call that failed, and returns the error code. The code is an
 * error class of hsumma's own with hsumma's message as its text, because MPICH gives no texts to new codes in MPI's
 * classes. MPI_Error_class() below maps the code to one of MPI's classes.
 */
static int report(const struct pmpi_comm *record, hsumma_status status)
{
    int *code = &pmpi_state.code[status];
    char text[MPI_MAX_ERROR_STRING];

    if (!*code && PMPI_Add_error_class(code))
        *code = MPI_ERR_OTHER;
    snprintf(text, sizeof text, "hsumma: %s", hsumma_message(record->ctx));
    if (*code != MPI_ERR_OTHER)
        PMPI_Add_error_string(*code, text);
    PMPI_Comm_call_errhandler(record->comm, *code);
    return *code;
}

/*
 * Runs the call. Returns 1 if the call was served, even if it failed; *error is then MPI_SUCCESS or the error code.
 * Returns 0 if no process served it; the call then had no effect.
 */
static int serve(struct pmpi_comm *record, const hsumma_coll *call, enum pmpi_function function, long long bytes,
                 int *error)
{
    hsumma_status status;

    pmpi_state.inside++;
    status = hsumma_coll_run(record->ctx, call);
    pmpi_state.inside--;
    if (status == HSUMMA_ERR_UNSUPPORTED || status == HSUMMA_ERR_OPTION) { /* returned on all ranks or on none */
        if (record->rank == 0)
            pmpi_warn(PMPI_PASSED_ON, hsumma_message(record->ctx));
        return 0;
    }
    *error = status ? report(record, status) : MPI_SUCCESS;
    pmpi_count_served(record, call, function, bytes, status == HSUMMA_OK);
    return 1;
}

/* Whether comm is an intracommunicator of which root is a rank. */
static int is_root(MPI_Comm comm, int root)
{
    int inter = 1, size = 0;

    return !PMPI_Comm_test_inter(comm, &inter) && !inter && !PMPI_Comm_size(comm, &size) && root >= 0 && root < size;
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

PMPI_EXPORT int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *drop,
                                       int *keyval, void *extra)
{
    if (copy != MPI_COMM_NULL_COPY_FN && !pmpi_state.inside)
        pmpi_state.copies = 1;
    return PMPI_Comm_create_keyval(copy, drop, keyval, extra);
}

#ifndef OPEN_MPI /* which no longer declares it */
PMPI_EXPORT int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *drop, int *keyval, void *extra)
{
    if (copy != MPI_NULL_COPY_FN && !pmpi_state.inside)
        pmpi_state.copies = 1;
    return PMPI_Keyval_create(copy, drop, keyval, extra);
}
#endif

/* --- reductions --------------------------------------------------------------------------------------------------- */

/* Whether MPI accepts the buffers of a rank. has_out: 1 if the rank gets the result. */
static int are_buffers(const void *in, const void *out, int has_out)
{
    return has_out ? in && out && out != MPI_IN_PLACE && in != out : in && in != MPI_IN_PLACE;
}

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
    if (!are_buffers(in, out, function == PMPI_ALLREDUCE_CALL || rank == root) ||
        !(record = pmpi_comm_of(comm, count * size)))
        return 0;
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

/*
 * Broadcasts elements with gaps, or out of memory order, through a copy. A process that cannot allocate or fill the
 * copy cannot signal that to the others, which then wait for it.
 */
static int serve_packed(struct pmpi_comm *record, void *buffer, MPI_Count count, MPI_Datatype type, hsumma_coll *call,
                        int *error)
{
    void *copy = malloc((size_t)call->count);
    MPI_Datatype used = type;
    int served = 1, place = 0;

    *error = copy ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (buffer == MPI_BOTTOM)
        used = from_bottom(type, &buffer);
    if (!*error && record->rank == call->root)
        *error = PMPI_Pack(buffer, (int)count, used, copy, (int)call->count, &place, pmpi_self());
    call->out = copy;
    place = 0;
    if (*error)
        PMPI_Comm_call_errhandler(record->comm, *error);
    else
        served = serve(record, call, PMPI_BCAST_CALL, call->count, error);
    if (served && !*error && record->rank != call->root) {
        *error = PMPI_Unpack(copy, (int)call->count, &place, buffer, (int)count, used, pmpi_self());
        if (*error)
            PMPI_Comm_call_errhandler(record->comm, *error);
    }
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

    if (is_for_mpi(count, type, comm) || !is_root(comm, root) || buffer == MPI_IN_PLACE || !pmpi_is_valid(type))
        return 0;
    basic = pmpi_is_basic(type, &size);
    if (size < 1 || count > INT32_MAX / size) /* nothing to send, or more than MPI can pack on another process */
        return 0;
    call.count = count * size;
    if ((basic && !buffer) || !(record = pmpi_comm_of(comm, call.count)))
        return 0;
    if (!basic)
        return serve_packed(record, buffer, count, type, &call, error);
    return serve(record, &call, PMPI_BCAST_CALL, call.count, error);
}

/* --- MPI's names -------------------------------------------------------------------------------------------------- */

/* Defines the functions with 32-bit or 64-bit counts; processes may mix the two in one call. */
#define FUNCTIONS(suffix, integer)                                                                                   \
    PMPI_EXPORT int MPI_Allreduce##suffix(const void *in, void *out, integer count, MPI_Datatype type, MPI_Op op,    \
                                          MPI_Comm comm)                                                             \
    {                                                                                                                \
        int error;                                                                                                   \
        if (serve_reduction(in, out, count, type, op, 0, comm, PMPI_ALLREDUCE_CALL, &error))                         \
            return error;                                                                                            \
        return pmpi_count_passed(PMPI_ALLREDUCE_CALL, count, type,                                                   \
                                 PMPI_Allreduce##suffix(in, out, count, type, op, comm));                            \
    }                                                                                                                \
    PMPI_EXPORT int MPI_Reduce##suffix(const void *in, void *out, integer count, MPI_Datatype type, MPI_Op op,       \
                                       int root, MPI_Comm comm)                                                      \
    {                                                                                                                \
        int error;                                                                                                   \
        if (serve_reduction(in, out, count, type, op, root, comm, PMPI_REDUCE_CALL, &error))                         \
            return error;                                                                                            \
        return pmpi_count_passed(PMPI_REDUCE_CALL, count, type,                                                      \
                                 PMPI_Reduce##suffix(in, out, count, type, op, root, comm));                         \
    }                                                                                                                \
    PMPI_EXPORT int MPI_Bcast##suffix(void *buffer, integer count, MPI_Datatype type, int root, MPI_Comm comm)       \
    {                                                                                                                \
        int error;                                                                                                   \
        if (serve_bcast(buffer, count, type, root, comm, &error))                                                    \
            return error;                                                                                            \
        return pmpi_count_passed(PMPI_BCAST_CALL, count, type, PMPI_Bcast##suffix(buffer, count, type, root, comm)); \
    }

FUNCTIONS(, int)
#if MPI_VERSION >= 4
FUNCTIONS(_c, MPI_Count)
#endif

PMPI_EXPORT int MPI_Error_class(int code, int *class)
{
    static const int class_of[PMPI_STATUSES] = {
        [HSUMMA_ERR_ARGUMENT] = MPI_ERR_ARG, [HSUMMA_ERR_MEMORY] = MPI_ERR_NO_MEM};

    for (int status = 0; status < PMPI_STATUSES; status++)
        if (code && code == pmpi_state.code[status]) {
            *class = class_of[status] ? class_of[status] : MPI_ERR_OTHER;
            return MPI_SUCCESS;
        }
    return PMPI_Error_class(code, class);
}

PMPI_EXPORT int MPI_Finalize(void)
{
    pmpi_print_counts();
    pmpi_comms_free();
    return PMPI_Finalize();
}
