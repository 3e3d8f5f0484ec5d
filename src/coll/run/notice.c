/* layers: uses MPI */
#include "coll/run/notice.h"

#include "coll/node/tags.h"

static int notice_tag(hsumma_status status)
{
    return hs_tag(HS_CHANNEL_AGREE, status == HSUMMA_ERR_PEER ? HS_NOTICE_OF_LOSS : HS_NOTICE);
}

void hs_notice_send(const struct hs_comm *comm, const struct hs_group *group, struct hs_notice notice,
                    const struct hs_allocator *memory)
{
    struct hs_notice *copy = hs_get_zero(memory, 1, sizeof *copy);
    if (!copy)
        return;
    *copy = notice;
    hs_keep(copy); /* MPI may still read it after this call */
    for (int i = 0; i < group->size; i++) {
        MPI_Request request;
        int rank = hs_group_rank(group, i);
        int looks = notice.status == HSUMMA_ERR_PEER && comm->mates.rank && hs_mate_index(&comm->mates, rank) >= 0;
        if (rank != comm->rank && !looks && /* mates look at the roster */
            MPI_Isend(copy, sizeof *copy, MPI_BYTE, rank, notice_tag(notice.status), comm->comm, &request) ==
                MPI_SUCCESS)
            MPI_Request_free(&request);
    }
}

int hs_notice_has_come(const struct hs_comm *comm)
{
    int there = 0;
    return comm->device &&
           MPI_Iprobe(MPI_ANY_SOURCE, notice_tag(HSUMMA_ERR_DEVICE), comm->comm, &there, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS &&
           there;
}

static int receive(const struct hs_comm *comm, hsumma_status status, struct hs_notice *notice)
{
    MPI_Status from;
    int there = 0, tag = notice_tag(status);
    return MPI_Iprobe(MPI_ANY_SOURCE, tag, comm->comm, &there, &from) == MPI_SUCCESS && there &&
           MPI_Recv(notice, sizeof *notice, MPI_BYTE, from.MPI_SOURCE, tag, comm->comm, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS;
}

int hs_notice_receive_loss(const struct hs_comm *comm, struct hs_notice *notice)
{
    return receive(comm, HSUMMA_ERR_PEER, notice);
}

int hs_notice_receive(const struct hs_comm *comm, struct hs_notice *notice)
{
    return receive(comm, HSUMMA_ERR_DEVICE, notice) || receive(comm, HSUMMA_ERR_PEER, notice);
}
