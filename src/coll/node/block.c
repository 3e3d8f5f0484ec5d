#include "coll/node/block.h"

#include "base/simulator.h"
#include "base/wait.h"
#include "coll/node/agree_mpi.h"

/*
 * The maximum number of requests that one wait handles. With more in flight a rank polls; in a simulator it waits for
 * the oldest ones.
 */
enum { CAPACITY = 512 };

hsumma_status hs_block_make(struct hs_block **result, MPI_Comm comm, const struct hs_allocator *memory)
{
    struct hs_block *block = hs_get_zero(memory, 1, sizeof *block);
    MPI_Comm machine = MPI_COMM_NULL;
    int rank = 0;
    *result = block;
    if (block) {
        block->bells.members = 1;
        block->bells.request = MPI_REQUEST_NULL;
        block->request = hs_get(memory, CAPACITY, sizeof *block->request);
        block->of = hs_get(memory, CAPACITY, sizeof *block->of);
        block->index = hs_get(memory, CAPACITY, sizeof *block->index);
    }
    hsumma_status status =
        hs_agreed(comm, block && block->request && block->of && block->index ? HSUMMA_OK : HSUMMA_ERR_MEMORY);
    MPI_Comm_rank(comm, &rank);
    if (!status && MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine) != MPI_SUCCESS)
        status = HSUMMA_ERR_MPI;
    status = hs_agreed(comm, status);
    if (!status)
        status = hs_bells_make(&block->bells, comm, machine, memory);
    if (machine != MPI_COMM_NULL)
        MPI_Comm_free(&machine);
    if (status) {
        hs_block_free(block, 1, memory);
        *result = NULL;
    }
    return status;
}

void hs_block_free(struct hs_block *block, int mpi, const struct hs_allocator *memory)
{
    if (!block)
        return;
    hs_bells_free(&block->bells, mpi, memory);
    hs_put(memory, block->request);
    hs_put(memory, block->of);
    hs_put(memory, block->index);
    hs_put(memory, block);
}

void hs_block_add(struct hs_block *block, struct hs_in_flight *messages)
{
    struct hs_in_flight **link = &block->first;
    while (*link)
        link = &(*link)->next;
    messages->next = NULL;
    *link = messages;
}

void hs_block_remove(struct hs_block *block, const struct hs_in_flight *messages)
{
    struct hs_in_flight **link = &block->first;
    while (*link && *link != messages)
        link = &(*link)->next;
    if (*link)
        *link = messages->next;
}

static void put(struct hs_block *block, int *count, MPI_Request request, struct hs_in_flight *of, int index)
{
    if (request == MPI_REQUEST_NULL)
        return;
    block->overflow = *count == CAPACITY;
    if (block->overflow)
        return;
    block->request[*count] = request;
    block->of[*count] = of;
    block->index[(*count)++] = index;
}

/* Collects all requests that may wake this rank. Returns their number, 0 if the rank must not block. */
static int gather(struct hs_block *block)
{
    int count = 0, polls = 0;
    block->overflow = 0;
    for (struct hs_in_flight *messages = block->first; messages; messages = messages->next)
        polls |= messages->polls;
    if (polls && !hs_simulator())
        return 0;
    put(block, &count, block->bells.request, NULL, 0);
    if (block->other)
        put(block, &count, *block->other, NULL, 1);
    for (struct hs_in_flight *messages = block->first; messages; messages = messages->next)
        for (int i = 0; i < messages->count; i++)
            put(block, &count, messages->request[i], messages, i);
    return count;
}

/* Records that MPI has completed a request; returns 1 if it was the bell. */
static int note(struct hs_block *block, int at)
{
    struct hs_in_flight *messages = block->of[at];
    int heard = !messages && block->index[at] == 0;
    if (messages) {
        messages->request[block->index[at]] = MPI_REQUEST_NULL;
        messages->collected++;
    } else if (heard) {
        block->bells.request = MPI_REQUEST_NULL;
    } else {
        *block->other = MPI_REQUEST_NULL;
    }
    return heard;
}

int hs_block_may_test(const struct hs_block *block)
{
    return hs_now() > block->looked;
}

hsumma_status hs_block_idle(void *state, int times)
{
    struct hs_block *block = state;
    /*
     * The first call, and the first after each completion, announces that this rank will block and returns, so that the
     * caller checks for work once more.
     */
    if (block->bells.members > 1 && (times == 1 || !block->bells.listening)) {
        hs_bells_awake(&block->bells, 0);
        return hs_bells_listen(&block->bells) == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI;
    }
    int count = gather(block), done = MPI_UNDEFINED, heard = 0;
    if (count == 0 || (block->overflow && !hs_simulator()))
        return hs_idle_yield(NULL, times);
    if (MPI_Waitany(count, block->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return HSUMMA_ERR_MPI;
    if (done != MPI_UNDEFINED)
        heard = note(block, done);
    hs_bells_awake(&block->bells, heard);
    block->looked = hs_now();
    return HSUMMA_OK;
}
