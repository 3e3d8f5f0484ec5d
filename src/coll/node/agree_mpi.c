#include "coll/node/agree_mpi.h"

struct hs_verdict hs_agree_by_mpi(MPI_Comm comm, struct hs_vote mine)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct hs_ballot ballot = hs_ballot_of(mine, rank);
    if (MPI_Allreduce(MPI_IN_PLACE, ballot.word, HS_BALLOT_WORDS, MPI_INT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        return hs_verdict_alone((struct hs_vote){.status = HSUMMA_ERR_MPI}, rank);
    return hs_ballot_verdict(&ballot);
}

hsumma_status hs_agreed(MPI_Comm comm, hsumma_status mine)
{
    return hs_agree_by_mpi(comm, (struct hs_vote){.status = mine}).status;
}
