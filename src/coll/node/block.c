#include "coll/node/block.h"

#include "base/simulator.h"
#include "base/wait.h"
#include "coll/node/agree_mpi.h"

#include <sched.h>
#include <time.h>

/* The most requests that one wait handles. With more a rank polls; in a simulator it waits for the oldest ones. */
enum { CAPACITY = 1024 };

hsumma_status hs_block_make(struct hs_block **result, MPI_Comm comm, MPI_Comm machine, const struct hs_watch *watch,
                            const struct hs_allocator *memory)
{
    struct hs_block *block = hs_get_zero(memory, 1, sizeof *block);
    struct hs_bells none;
    *result = block;
    if (block) {
        block->request = hs_get(memory, CAPACITY, sizeof *block->request);
        block->of = hs_get(memory, CAPACITY, sizeof *block->of);
        block->index = hs_get(memory, CAPACITY, sizeof *block->index);
    }
    hsumma_status status = block && block->request && block->of && block->index ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    status = hs_bells_make(block ? &block->bells : &none, comm, machine, status, watch, memory);
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

/*
 * Waits for one of the requests: in a simulator until one is complete, else about 2 ms at most, so that the caller can
 * look after the wait. *done: its index, or MPI_UNDEFINED. A blocking call of a real MPI could not be interrupted, and
 * mostly occupies its processor anyway. Naps last at most some 3 % of the wait so far.
 */
static hsumma_status await_any(struct hs_block *block, int count, int times, int *done)
{
    enum { AWAKE = 32, TESTS = 100, NAP_NS = 20000, LONGEST_NS = 2000000 };
    int code = MPI_SUCCESS, found = 0;
    *done = MPI_UNDEFINED;
    if (hs_simulator())
        code = MPI_Waitany(count, block->request, done, MPI_STATUS_IGNORE);
    for (int i = 0; i < TESTS && !found && code == MPI_SUCCESS && !hs_simulator(); i++) {
        code = MPI_Testany(count, block->request, done, &found, MPI_STATUS_IGNORE);
        if (!found && times > AWAKE) {
            int64_t ns = (times - AWAKE) * (int64_t)NAP_NS;
            nanosleep(&(struct timespec){.tv_nsec = ns < LONGEST_NS ? (long)ns : LONGEST_NS}, NULL);
            break;
        }
        if (!found)
            sched_yield();
    }
    return hs_mpi_status(code);
}

hsumma_status hs_block_idle(void *state, int times)
{
    struct hs_block *block = state;
    /* The first call, and the first after each completion, only announces this: the caller checks once more. */
    if (block->bells.members > 1 && (times == 1 || !block->bells.listening)) {
        hs_bells_awake(&block->bells, 0);
        return hs_mpi_status(hs_bells_listen(&block->bells));
    }
    int count = gather(block), done = MPI_UNDEFINED, heard = 0;
    if (count == 0 || (block->overflow && !hs_simulator()))
        return hs_idle_yield(NULL, times);
    hsumma_status status = await_any(block, count, times, &done);
    if (status)
        return status;
    if (done != MPI_UNDEFINED)
        heard = note(block, done);
    else if (block->bells.members > 1) /* the bell is still awaited */
        return HSUMMA_OK;
    hs_bells_awake(&block->bells, heard);
    block->looked = hs_now();
    return HSUMMA_OK;
}
