#include "coll/node/agree_mpi.h"

#include "base/memory.h"
#include "base/simulator.h"
#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* defines MPIX_ERR_PROC_FAILED if Open MPI tolerates failures (ULFM) */
#endif
#endif

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

static hsumma_status test(void *request, int *worked, int *done)
{
    (void)worked;
    return hs_mpi_status(MPI_Test(request, done, MPI_STATUS_IGNORE));
}

hsumma_status hs_mpi_wait(int code, MPI_Request *request, const struct hs_watch *watch)
{
    if (code != MPI_SUCCESS)
        return hs_mpi_status(code);
    if (!watch || hs_simulator()) /* polling would never end in a simulator */
        return hs_mpi_status(MPI_Wait(request, MPI_STATUS_IGNORE));
    return hs_wait_idle(test, request, hs_idle_yield, NULL, watch);
}

static struct hs_verdict verdict_of(const struct hs_ballot *ballot, hsumma_status status, int rank)
{
    return status ? hs_verdict_alone((struct hs_vote){.status = status}, rank) : hs_ballot_verdict(ballot);
}

struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct hs_ballot ballot = hs_ballot_of(mine, rank);
    hsumma_status status =
        hs_mpi_status(MPI_Allreduce(MPI_IN_PLACE, ballot.word, HS_BALLOT_WORDS, MPI_INT64_T, MPI_MAX, comm));
    return verdict_of(&ballot, status, rank);
}

struct hs_verdict hs_agree_watched(MPI_Comm comm, struct hs_vote mine, const struct hs_watch *watch)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Request request;
    struct hs_ballot local, *ballot = hs_get(&hs_heap, 1, sizeof *ballot);
    struct hs_ballot *used = ballot ? ballot : &local;
    *used = hs_ballot_of(mine, rank);
    int code = MPI_Iallreduce(MPI_IN_PLACE, used->word, HS_BALLOT_WORDS, MPI_INT64_T, MPI_MAX, comm, &request);
    hsumma_status status = hs_mpi_wait(code, &request, ballot ? watch : NULL);
    struct hs_verdict verdict = verdict_of(used, status, rank);
    if (!status) /* else MPI may still write to it */
        hs_put(&hs_heap, ballot);
    return verdict;
}

hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine)
{
    return hs_agree_by_mpi(comm, (struct hs_vote){.status = mine}).status;
}
