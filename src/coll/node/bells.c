#include "coll/node/bells.h"

#include "coll/node/agree_mpi.h"
#include "coll/node/mapping.h"
#include "coll/node/tags.h"

static int bell_tag(void)
{
    return hs_tag(HS_CHANNEL_AGREE, HS_BELL);
}

static size_t sleeper_bytes(const struct hs_bells *bells)
{
    return (size_t)hs_in_pages(bells->members * (int64_t)sizeof *bells->sleeper);
}

hsumma_status hs_bells_make(struct hs_bells *bells, MPI_Comm comm, MPI_Comm machine, const struct hs_allocator *memory)
{
    int mine = 0;
    *bells = (struct hs_bells){.comm = comm, .members = 1, .request = MPI_REQUEST_NULL};
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(machine, &bells->members);
    MPI_Comm_rank(machine, &bells->me);
    int sent = bells->members * HS_BELLS_SENT;
    if (bells->members > 1) {
        bells->rank = hs_get(memory, (size_t)bells->members, sizeof *bells->rank);
        bells->sent = hs_get(memory, (size_t)sent, sizeof *bells->sent);
    }
    for (int i = 0; bells->sent && i < sent; i++)
        bells->sent[i] = MPI_REQUEST_NULL;
    hsumma_status status =
        hs_agreed(comm, (bells->rank && bells->sent) || bells->members == 1 ? HSUMMA_OK : HSUMMA_ERR_MEMORY);
    if (!status && bells->members > 1) {
        bells->sleeper = hs_mapping_make(machine, sleeper_bytes(bells), 0);
        if (MPI_Allgather(&mine, 1, MPI_INT, bells->rank, 1, MPI_INT, machine) != MPI_SUCCESS)
            status = HSUMMA_ERR_MPI;
        else if (!bells->sleeper) /* then the ranks of this machine share no flags */
            bells->members = 1, bells->me = 0;
    }
    status = hs_agreed(comm, status);
    if (status)
        hs_bells_free(bells, 1, memory);
    return status;
}

int hs_bells_listen(struct hs_bells *bells)
{
    int code = MPI_SUCCESS;
    if (bells->request == MPI_REQUEST_NULL)
        code = MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, bell_tag(), bells->comm, &bells->request);
    atomic_store(&bells->sleeper[bells->me].asleep, 1);
    atomic_thread_fence(memory_order_seq_cst); /* before the last look at flags */
    bells->listening = 1;
    return code;
}

void hs_bells_awake(struct hs_bells *bells, int heard)
{
    bells->owed -= heard;
    if (bells->listening)
        bells->owed += !atomic_exchange(&bells->sleeper[bells->me].asleep, 0);
    bells->listening = 0;
}

/* Room for a request of a bell to member m; NULL: it has not received the last ones. */
static MPI_Request *room_for(struct hs_bells *bells, int m)
{
    MPI_Request *sent = &bells->sent[m * HS_BELLS_SENT];
    for (int i = 0; i < HS_BELLS_SENT; i++)
        if (sent[i] == MPI_REQUEST_NULL)
            return &sent[i];
    for (int i = 0; i < HS_BELLS_SENT; i++) {
        int done = 0;
        if (MPI_Test(&sent[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
            return &sent[i];
    }
    return NULL;
}

/*
 * The flag has been raised before.  Fences here and in hs_bells_listen: a rank that looks at the flag too early is seen
 * asleep.
 * Requests are kept, since SMPI 3.32 goes on using one that has been freed before its message was received.
 */
void hs_bells_ring(struct hs_bells *bells)
{
    if (!bells)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    for (int m = 0; m < bells->members; m++) {
        if (m == bells->me || !atomic_load(&bells->sleeper[m].asleep) || !atomic_exchange(&bells->sleeper[m].asleep, 0))
            continue;
        MPI_Request request, *kept = room_for(bells, m);
        if (MPI_Isend(NULL, 0, MPI_BYTE, bells->rank[m], bell_tag(), bells->comm, &request) != MPI_SUCCESS) {
            atomic_store(&bells->sleeper[m].asleep, 1);
            continue;
        }
        if (kept)
            *kept = request;
        else
            MPI_Request_free(&request);
    }
}

/* Bells on their way are received: nothing may be left in the communicator. */
static void silence(struct hs_bells *bells)
{
    hs_bells_awake(bells, 0);
    for (; bells->owed > 0; bells->owed--)
        if (bells->request != MPI_REQUEST_NULL)
            MPI_Wait(&bells->request, MPI_STATUS_IGNORE);
        else
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, bell_tag(), bells->comm, MPI_STATUS_IGNORE);
    if (bells->request != MPI_REQUEST_NULL) {
        MPI_Cancel(&bells->request);
        MPI_Wait(&bells->request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; bells->sent && i < bells->members * HS_BELLS_SENT; i++) {
        int done = 0;
        MPI_Test(&bells->sent[i], &done, MPI_STATUS_IGNORE);
        if (!done)
            MPI_Request_free(&bells->sent[i]);
    }
}

void hs_bells_free(struct hs_bells *bells, int mpi, const struct hs_allocator *memory)
{
    if (mpi)
        silence(bells);
    if (bells->sleeper)
        hs_mapping_free(bells->sleeper, sleeper_bytes(bells));
    hs_put(memory, bells->rank);
    hs_put(memory, bells->sent);
    *bells = (struct hs_bells){.members = 1, .request = MPI_REQUEST_NULL};
}
