/*
 * The end of a team.  A rank on which a device fails tells all others, by message: whoever waits for it gives up.  MPI
 * is well then; where it is not, nobody can be told.
 */
#include "coll/run/team_parts.h"

#include "coll/run/device_comm.h"

#include <string.h>

/* Left to the end of the process, as is all that MPI may still look at. */
static void notify(struct hs_team *team, hsumma_status status)
{
    struct hs_notice *notice = hs_get_zero(team->memory, 1, sizeof *notice);
    if (!notice)
        return;
    notice->status = (int)status;
    notice->text = team->failure;
    for (int i = 0; i < team->group.size; i++) {
        MPI_Request request;
        int rank = hs_group_rank(&team->group, i);
        if (rank != team->comm->rank &&
            MPI_Isend(notice, sizeof *notice, MPI_BYTE, rank, HS_NOTICE_TAG, team->comm->comm, &request) == MPI_SUCCESS)
            MPI_Request_free(&request);
    }
}

static void end(struct hs_team *team, hsumma_status status)
{
    team->broken = 1;
    team->status = status;
    for (struct hs_operation *operation = team->first; operation; operation = operation->next) {
        operation->ticket->done = 1;
        operation->ticket->status = status;
    }
    team->first = team->last = NULL; /* their memory is left to the end of the process: MPI may write to it */
}

void hs_team_fail(struct hs_team *team, hsumma_status status)
{
    const struct hs_device_comm *on = team->comm->device;
    if (team->broken)
        return;
    if (on)
        team->failure = on->failure;
    end(team, status);
    if (on && status != HSUMMA_ERR_MPI)
        notify(team, status);
}

int hs_device_noticed(const struct hs_comm *comm)
{
    int there = 0;
    return comm->device &&
           MPI_Iprobe(MPI_ANY_SOURCE, HS_NOTICE_TAG, comm->comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && there;
}

void hs_team_listen(struct hs_team *team)
{
    struct hs_notice notice;
    MPI_Status from;
    int there = 0; /* also where there are no devices: what waits in shared memory must let MPI move other messages */
    if (MPI_Iprobe(MPI_ANY_SOURCE, HS_NOTICE_TAG, team->comm->comm, &there, &from) != MPI_SUCCESS || !there)
        return;
    if (MPI_Recv(&notice, sizeof notice, MPI_BYTE, from.MPI_SOURCE, HS_NOTICE_TAG, team->comm->comm,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        team->broken)
        return;
    team->failure = notice.text;
    end(team, (hsumma_status)notice.status);
}
