#include "coll/node/bells.h"

#include "base/simulator.h"
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

hsumma_status hs_bells_make(struct hs_bells *bells, MPI_Comm comm, MPI_Comm machine, hsumma_status own,
                            const struct hs_watch *watch, const struct hs_allocator *memory)
{
    int mine = 0;
    *bells = (struct hs_bells){.comm = comm, .members = 1, .request = MPI_REQUEST_NULL};
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(machine, &bells->members);
    MPI_Comm_rank(machine, &bells->me);
    if (bells->members > 1) {
        bells->rank = hs_get(memory, (size_t)bells->members, sizeof *bells->rank);
        bells->sent = hs_get(memory, (size_t)bells->members, sizeof *bells->sent);
    }
    for (int i = 0; bells->sent && i < bells->members; i++)
        bells->sent[i] = MPI_REQUEST_NULL;
    if (!own && bells->members > 1 && (!bells->rank || !bells->sent))
        own = HSUMMA_ERR_MEMORY;
    hsumma_status status = hs_agreed(comm, own, watch);
    if (!status && bells->members > 1) {
        bells->sleeper = hs_mapping_make(machine, sleeper_bytes(bells), 0, watch, NULL);
        status = hs_mpi_allgather(&mine, sizeof mine, bells->rank, machine, watch);
        /* without shared memory this machine has no flags, and needs no bells */
        if (!status && !bells->sleeper)
            bells->members = 1, bells->me = 0;
    }
    status = hs_agreed(comm, status, watch);
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
    atomic_thread_fence(memory_order_seq_cst); /* orders the store of `asleep` before the last check of flags */
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

/*
 * True if a bell can be sent to member m. In a simulator this is impossible while the previous bell is in transit,
 * because SMPI 3.32 handles neither several bells nor requests that are freed early. The previous bell wakes m in any
 * case.
 */
static int can_ring(struct hs_bells *bells, int m)
{
    int done = 1;
    if (bells->sent[m] != MPI_REQUEST_NULL && MPI_Test(&bells->sent[m], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return 0;
    if (!done && !hs_simulator())
        done = MPI_Request_free(&bells->sent[m]) == MPI_SUCCESS;
    return done;
}

/* The caller has raised a flag. If another rank last looked at it before that, the fences here and in hs_bells_listen
 * make that rank's `asleep` visible to the caller. */
void hs_bells_ring(struct hs_bells *bells)
{
    if (!bells || !bells->sleeper)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    for (int m = 0; m < bells->members; m++) {
        _Atomic int *asleep = &bells->sleeper[m].asleep;
        if (m == bells->me || !atomic_load(asleep) || !can_ring(bells, m) || !atomic_exchange(asleep, 0))
            continue;
        if (MPI_Isend(NULL, 0, MPI_BYTE, bells->rank[m], bell_tag(), bells->comm, &bells->sent[m]) != MPI_SUCCESS)
            atomic_store(asleep, 1);
    }
}

/* Receives the bells in transit, and completes a pending receive by a bell from this rank to itself. */
static void silence(struct hs_bells *bells)
{
    MPI_Request own = MPI_REQUEST_NULL;
    hs_bells_awake(bells, 0);
    for (; bells->owed > 0; bells->owed--)
        if (bells->request != MPI_REQUEST_NULL)
            MPI_Wait(&bells->request, MPI_STATUS_IGNORE);
        else
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, bell_tag(), bells->comm, MPI_STATUS_IGNORE);
    if (bells->request != MPI_REQUEST_NULL &&
        MPI_Isend(NULL, 0, MPI_BYTE, bells->rank[bells->me], bell_tag(), bells->comm, &own) == MPI_SUCCESS) {
        MPI_Wait(&bells->request, MPI_STATUS_IGNORE);
        MPI_Wait(&own, MPI_STATUS_IGNORE);
    }
    if (bells->sent)
        MPI_Waitall(bells->members, bells->sent, MPI_STATUSES_IGNORE);
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
