#include "coll/run/agree.h"

#include "coll/run/device_comm.h"

#include "base/wait.h"
#include "coll/schedule/registry.h"

#include <string.h>

static void larger(void *dst, const void *left, const void *right, int64_t bytes, void *state)
{
    (void)state;
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof(int64_t)) {
        int64_t l, r;
        memcpy(&l, (const char *)left + at, sizeof l);
        memcpy(&r, (const char *)right + at, sizeof r);
        memcpy((char *)dst + at, l > r ? &l : &r, sizeof l);
    }
}

hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                int which, const struct hs_allocator *memory)
{
    memset(agreement, 0, sizeof *agreement);
    agreement->comm = comm;
    agreement->group = *group;
    agreement->tag = hs_tag(HS_CHANNEL_AGREE, which);
    struct hs_shape shape = {
        .rank = group->me, .size = group->size, .bytes = sizeof agreement->mine, .unit = sizeof(int64_t)};
    hsumma_status status = hs_build(hs_alg_find(HS_ALLREDUCE, "recursive_doubling"), &shape, memory, &agreement->list);
    if (status)
        return status;
    int steps = agreement->list.steps;
    agreement->work = hs_get(memory, 1, hs_instance_bytes(steps));
    if (!agreement->work || agreement->list.extent[HS_SCRATCH] > (int64_t)sizeof agreement->scratch) {
        status = agreement->work ? HSUMMA_ERR_INTERNAL : HSUMMA_ERR_MEMORY;
        hs_agreement_free(agreement, memory);
        return status;
    }
    hs_instance_init(&agreement->instance, agreement->work, steps);
    return HSUMMA_OK;
}

void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory)
{
    hs_list_free(memory, &agreement->list);
    hs_put(memory, agreement->work);
    agreement->work = NULL;
}

hsumma_status hs_agreement_start(struct hs_agreement *agreement, hsumma_status status, int detail, int64_t size,
                                 int64_t hash)
{
    agreement->mine[0] = (int64_t)status << 40 | (int64_t)detail << 32 | (INT32_MAX - agreement->comm->rank);
    agreement->mine[1] = size;
    agreement->mine[2] = hash;
    agreement->mine[3] = -hash;
    memcpy(agreement->result, agreement->mine, sizeof agreement->result);
    struct hs_directory *directory = agreement->directory;
    if (directory) {
        uint64_t arrival = ++directory->arrivals;
        atomic_store_explicit(&directory->entry[directory->me].verdict[arrival % 2], agreement->mine[0],
                              memory_order_relaxed);
        hs_signal(directory, HS_ARRIVED, arrival);
        agreement->met = 0;
        return HSUMMA_OK;
    }
    struct hs_binding binding = {.list = &agreement->list,
                                 .group = agreement->group,
                                 .tag = agreement->tag,
                                 .slot = {agreement->mine, agreement->result, agreement->scratch},
                                 .combine = larger};
    return hs_start(&agreement->instance, agreement->comm, &binding);
}

struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement)
{
    int64_t value = agreement->result[0];
    return (struct hs_verdict){(hsumma_status)(value >> 40), (int)(value >> 32 & 255),
                               INT32_MAX - (int)(value & INT32_MAX), agreement->result[1],
                               agreement->result[2] == -agreement->result[3]};
}

/* The verdicts of those that have arrived since the last look; the worst is the largest. */
static void meet(struct hs_agreement *agreement, int *worked, int *done)
{
    struct hs_directory *directory = agreement->directory;
    hs_directory_look(directory);
    for (; agreement->met < agreement->group.size; agreement->met++) {
        int rank = hs_group_rank(&agreement->group, agreement->met);
        if (!hs_signalled(directory, rank, HS_ARRIVED, directory->arrivals))
            break;
        int64_t theirs =
            atomic_load_explicit(&directory->entry[rank].verdict[directory->arrivals % 2], memory_order_relaxed);
        agreement->result[0] = theirs > agreement->result[0] ? theirs : agreement->result[0];
        *worked = 1;
    }
    *done = agreement->met == agreement->group.size;
}

hsumma_status hs_agreement_advance(void *state, int *worked, int *done)
{
    struct hs_agreement *agreement = state;
    enum { VAIN = 64 };
    hsumma_status status = HSUMMA_OK;
    if (agreement->directory) {
        meet(agreement, worked, done);
    } else {
        status = hs_progress(&agreement->instance, worked);
        *done = !agreement->instance.active;
    }
    if (!status && !*done && ++agreement->vain % VAIN == 0 && hs_device_noticed(agreement->comm))
        status = HSUMMA_ERR_DEVICE; /* one of them has left */
    return status;
}

struct hs_verdict hs_agree(struct hs_agreement *agreement, hsumma_status status, int detail, int64_t size, int64_t hash)
{
    hsumma_status mine = hs_agreement_start(agreement, status, detail, size, hash);
    if (!mine)
        mine = hs_wait(hs_agreement_advance, agreement);
    if (mine)
        return (struct hs_verdict){mine, detail, agreement->comm->rank, size, 1};
    return hs_agreement_verdict(agreement);
}
