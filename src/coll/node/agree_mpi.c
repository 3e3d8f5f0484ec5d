#include "coll/node/agree_mpi.h"

#include "base/memory.h"
#include "base/simulator.h"

#include <string.h>

hsumma_status hs_mpi_status(int code)
{
    int class = code;
    if (code == MPI_SUCCESS)
        return HSUMMA_OK;
    MPI_Error_class(code, &class);
#ifdef MPIX_ERR_PROC_FAILED
    if (class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED)
        return HSUMMA_ERR_PEER;
#endif
    return HSUMMA_ERR_MPI;
}

int hs_mpi_lost(MPI_Comm comm)
{
    int rank = -1;
#ifdef OMPI_HAVE_MPIX_COMM_GET_FAILED
    MPI_Group all = MPI_GROUP_NULL, failed = MPI_GROUP_NULL;
    int count = 0;
    if (MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS && MPI_Group_size(failed, &count) == MPI_SUCCESS &&
        count > 0 && MPI_Comm_group(comm, &all) == MPI_SUCCESS)
        MPI_Group_translate_ranks(failed, 1, &(int){0}, all, &rank);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    if (failed != MPI_GROUP_NULL)
        MPI_Group_free(&failed);
#else
    (void)comm;
#endif
    return rank;
}

static hsumma_status test(void *request, int *worked, int *done)
{
    (void)worked;
    return hs_mpi_status(MPI_Test(request, done, MPI_STATUS_IGNORE));
}

/* The caller's watch, for a wait in a communicator. */
struct comm_watch {
    const struct hs_watch *watch;
    MPI_Comm comm;
};

/* Ends a wait after the loss of any process of comm: the awaited process may have given up because of it. */
static hsumma_status look_for_lost(void *state, double seconds)
{
    const struct comm_watch *of = state;
    return hs_mpi_lost(of->comm) >= 0 ? HSUMMA_ERR_PEER : of->watch->look(of->watch->state, seconds);
}

/* Waits for a request that MPI started in comm with the result `code`. After an error MPI may still use its buffers. */
static hsumma_status wait_for(int code, MPI_Request *request, MPI_Comm comm, const struct hs_watch *watch)
{
    if (code != MPI_SUCCESS)
        return hs_mpi_status(code);
    if (!watch || hs_simulator()) /* polling would never end in a simulator */
        return hs_mpi_status(MPI_Wait(request, MPI_STATUS_IGNORE));
    struct comm_watch of = {.watch = watch, .comm = comm};
    const struct hs_watch looks = {.look = look_for_lost, .state = &of, .interval = watch->interval};
    hsumma_status status = hs_wait_idle(test, request, hs_idle_yield, NULL, &looks);
    /* Open MPI 5.0's MPI_Comm_idup returns MPI_ERR_INTERN */
    return status == HSUMMA_ERR_MPI && hs_mpi_lost(comm) >= 0 ? HSUMMA_ERR_PEER : status;
}

/*
 * In a simulator the following calls block, since SMPI's nonblocking collectives give wrong results and take time in
 * O(ranks^2). Elsewhere they do not, even without a watch: a blocking call does not match a nonblocking one of another
 * rank.
 */

hsumma_status hs_mpi_barrier(MPI_Comm comm, const struct hs_watch *watch)
{
    MPI_Request request;
    if (hs_simulator())
        return hs_mpi_status(MPI_Barrier(comm));
    int code = MPI_Ibarrier(comm, &request);
    return wait_for(code, &request, comm, watch);
}

/* Waits for a call of MPI that works on the copy, then frees the copy; keeps it if the wait fails. */
static hsumma_status finish(int code, MPI_Request *request, MPI_Comm comm, const struct hs_watch *watch, void *copy,
                            void *to, size_t bytes)
{
    hsumma_status status = wait_for(code, request, comm, copy ? watch : NULL);
    if (!status && copy)
        memcpy(to, copy, bytes);
    if (status && code == MPI_SUCCESS)
        hs_keep(copy);
    else
        hs_put(&hs_heap, copy);
    return status;
}

static void *copy_of(const void *data, size_t bytes)
{
    void *copy = hs_get(&hs_heap, bytes, 1);
    if (copy)
        memcpy(copy, data, bytes);
    return copy;
}

hsumma_status hs_mpi_bcast(void *data, size_t bytes, int root, MPI_Comm comm, const struct hs_watch *watch)
{
    MPI_Request request;
    if (hs_simulator())
        return hs_mpi_status(MPI_Bcast(data, (int)bytes, MPI_BYTE, root, comm));
    void *copy = copy_of(data, bytes);
    int code = MPI_Ibcast(copy ? copy : data, (int)bytes, MPI_BYTE, root, comm, &request);
    return finish(code, &request, comm, watch, copy, data, bytes);
}

hsumma_status hs_mpi_allreduce(void *data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               const struct hs_watch *watch)
{
    MPI_Request request;
    int size = 0;
    if (hs_simulator())
        return hs_mpi_status(MPI_Allreduce(MPI_IN_PLACE, data, count, type, op, comm));
    MPI_Type_size(type, &size);
    const size_t bytes = (size_t)count * (size_t)size;
    void *copy = copy_of(data, bytes);
    int code = MPI_Iallreduce(MPI_IN_PLACE, copy ? copy : data, count, type, op, comm, &request);
    return finish(code, &request, comm, watch, copy, data, bytes);
}

hsumma_status hs_mpi_allgather(const void *mine, size_t bytes, void *all, MPI_Comm comm, const struct hs_watch *watch)
{
    MPI_Request request;
    int me = 0, ranks = 1;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    memmove((char *)all + (size_t)me * bytes, mine, bytes);
    if (hs_simulator())
        return hs_mpi_status(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, (int)bytes, MPI_BYTE, comm));
    void *copy = copy_of(all, bytes * (size_t)ranks);
    int code =
        MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, copy ? copy : all, (int)bytes, MPI_BYTE, comm, &request);
    return finish(code, &request, comm, watch, copy, all, bytes * (size_t)ranks);
}

/* Makes a communicator of all ranks where MPI_Comm_idup does not work. */
static hsumma_status create_like(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Group group = MPI_GROUP_NULL;
    int code = MPI_Comm_group(comm, &group);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_create(comm, group, copy);
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    return hs_mpi_status(code);
}

/* Before MPI 4 a duplicate has the hints of the original. Sets those that promise something to false. */
static void drop_hints(MPI_Comm comm)
{
    static const char *const hint[] = {"mpi_assert_allow_overtaking", "mpi_assert_no_any_source",
                                       "mpi_assert_no_any_tag", "mpi_assert_exact_length"};
    MPI_Info info;
    if (MPI_VERSION >= 4 || MPI_Info_create(&info) != MPI_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++)
        MPI_Info_set(info, hint[i], "false");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

hsumma_status hs_mpi_duplicate(MPI_Comm comm, MPI_Comm *copy, const struct hs_watch *watch)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Errhandler handler;
    if (hs_simulator())
        return create_like(comm, copy);
    if (MPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return HSUMMA_ERR_MPI;
    MPI_Comm *made = copy_of(copy, sizeof *copy);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = MPI_Comm_idup(comm, made ? made : copy, &request);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    hsumma_status status = finish(code, &request, comm, watch, made, copy, sizeof *copy);
    if (!status)
        drop_hints(*copy);
    return status;
}

hsumma_status hs_mpi_group(MPI_Comm comm, int size, const int *rank, MPI_Group *group)
{
    MPI_Group all = MPI_GROUP_NULL;
    *group = MPI_GROUP_NULL;
    int made = MPI_Comm_group(comm, &all) == MPI_SUCCESS && MPI_Group_incl(all, size, rank, group) == MPI_SUCCESS;
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    return made ? HSUMMA_OK : HSUMMA_ERR_MPI;
}

hsumma_status hs_mpi_subset(MPI_Comm comm, MPI_Group *group, int tag, MPI_Comm *subset)
{
    *subset = MPI_COMM_NULL;
    int code = MPI_Comm_create_group(comm, *group, tag, subset);
    MPI_Group_free(group);
    if (code == MPI_SUCCESS) /* MPICH's has the default error handler, which ends the program, instead of comm's */
        MPI_Comm_set_errhandler(*subset, MPI_ERRORS_RETURN);
    return hs_mpi_status(code);
}

struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine, const struct hs_watch *watch)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct hs_ballot ballot = hs_ballot_of(mine, rank);
    hsumma_status status = hs_mpi_allreduce(ballot.word, HS_BALLOT_WORDS, MPI_INT64_T, MPI_MAX, comm, watch);
    return status ? hs_verdict_alone((struct hs_vote){.status = status}, rank) : hs_ballot_verdict(&ballot);
}

hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine, const struct hs_watch *watch)
{
    return hs_agree_by_mpi(comm, (struct hs_vote){.status = mine}, watch).status;
}
