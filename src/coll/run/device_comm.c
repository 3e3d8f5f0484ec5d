#include "coll/run/device_comm.h"

#include "coll/node/agree_mpi.h"

#include <string.h>

enum { DEVICE_SHARED_LIMIT = 256 << 20 }; /* bytes of the buffer in Faraji and Afsahi, Section 3.1 */

/* Creates flags in host memory and events, and checks that devices can share memory. Collective over the node. */
static hsumma_status make_shm(struct hs_device_comm *on, const struct hs_comm *comm, struct hs_message *why)
{
    struct hs_device_share probe;
    on->shm = hs_shm_make(on->mates, comm, 0, on->memory);
    if (on->shm) {
        on->shm->direct = 1;
        on->shm->share = &on->share;
        on->held = hs_get_zero(on->memory, 2 * (size_t)on->shm->members + 1, sizeof *on->held);
        on->wanted = on->held ? on->held + on->shm->members : NULL;
    }
    if (hs_agreed(on->mates, on->held ? HSUMMA_OK : HSUMMA_ERR_UNSUPPORTED, comm->watch))
        return hs_fail(why, HSUMMA_ERR_UNSUPPORTED, "processes of a node cannot share host memory");
    hsumma_status status = hs_device_share_make(&on->share, on->mates, on->watch, on->device,
                                                HS_LONG_RING * HS_SLOT_EVENTS, 0, on->memory, why);
    if (!status)
        status = hs_device_share_make(&probe, on->mates, on->watch, on->device, 0, HS_PAGE, on->memory, why);
    if (!status)
        hs_device_share_end(&probe, on->mates, on->memory);
    return status;
}

static void leave_shm(struct hs_device_comm *on)
{
    if (on->mates != MPI_COMM_NULL)
        hs_device_share_end(&on->share, on->mates, on->memory);
    hs_shm_free_memory(on->shm, on->memory);
    hs_put(on->memory, on->held);
    if (on->mates != MPI_COMM_NULL)
        MPI_Comm_free(&on->mates);
    on->shm = NULL;
    on->held = on->wanted = NULL;
}

int64_t hs_device_shared_limit(int64_t wish)
{
    return wish < 0 ? DEVICE_SHARED_LIMIT : hs_in_pages(wish);
}

/* Shares device memory on all nodes or on none, as hs_comm_discover does with host memory. */
static hsumma_status share(struct hs_device_comm *on, struct hs_comm *comm, const struct hs_device_options *options)
{
    on->limit = hs_device_shared_limit(options->shared_bytes);
    if (hs_division_largest(&comm->topology.division[HS_NODE]) == 1 || on->limit == 0)
        return HSUMMA_OK;
    hsumma_status status = HSUMMA_ERR_UNSUPPORTED;
    if (comm->mates.comm != MPI_COMM_NULL)
        status = hs_agreed(comm->comm,
                           MPI_Comm_dup(comm->mates.comm, &on->mates) == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI,
                           comm->watch);
    if (!status)
        status = hs_agreed(comm->comm, make_shm(on, comm, &on->note), comm->watch);
    if (!status) {
        on->topology.shared_bytes = on->limit;
        on->topology.direct = options->direct;
        return HSUMMA_OK;
    }
    leave_shm(on);
    if (!on->note.text[0])
        hs_fail(&on->note, status, "the processes of some node cannot share host or device memory");
    return hs_status_is_final(status) ? status : HSUMMA_OK;
}

hsumma_status hs_device_comm_make(struct hs_comm *comm, struct hs_device *device, struct hs_stream *const *stream,
                                  const struct hs_device_options *options, const struct hs_allocator *memory,
                                  struct hs_message *message)
{
    struct hs_device_comm *on = hs_get_zero(memory, 1, sizeof *on);
    hsumma_status status =
        on ? HSUMMA_OK : hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for collective calls on a device");
    if (on) {
        *on = (struct hs_device_comm){
            .device = device, .stream = stream, .memory = memory, .watch = comm->watch, .rank = comm->rank};
        on->mates = MPI_COMM_NULL;
        on->topology = comm->topology;
        status = device->kind->make_event(device, 0, &on->pulse);
        if (!status && comm->size > 1)
            status = hs_bounce_make(&on->bounce, device, options->gpu_aware);
        if (status)
            hs_fail(message, status, "process %d: %s", comm->rank, device->message.text);
    }
    comm->device = on;
    status = hs_agreed(comm->comm, status, comm->watch);
    if (!status)
        status = share(on, comm, options);
    if (!status)
        return HSUMMA_OK;
    if (!message->text[0])
        hs_fail(message, status, "collective calls on devices could not be set up: %s", hsumma_status_string(status));
    hs_device_comm_free(comm, 0);
    return status;
}

void hs_device_comm_leave(struct hs_comm *comm)
{
    struct hs_device_comm *on = comm->device;
    if (!on)
        return;
    hs_device_share_leave(&on->pool);
    hs_device_share_leave(&on->shared);
    hs_device_share_leave(&on->share);
}

void hs_device_comm_free(struct hs_comm *comm, int broken)
{
    struct hs_device_comm *on = comm->device;
    int finalised = 1;
    comm->device = NULL;
    if (!on)
        return;
    MPI_Finalized(&finalised);
    if (!broken) {
        hs_device_share_free(&on->pool, on->memory);
        hs_device_share_free(&on->shared, on->memory);
        hs_device_share_free(&on->share, on->memory);
        hs_shm_free_memory(on->shm, on->memory);
        hs_put(on->memory, on->held);
    }
    hs_bounce_free(&on->bounce, on->device, broken);
    on->device->kind->free_event(on->device, on->pulse);
    if (on->mates != MPI_COMM_NULL && !finalised && !broken)
        MPI_Comm_free(&on->mates);
    if (broken)
        hs_keep(on);
    else
        hs_put(on->memory, on);
}

/* Raises on->wanted to cover the bytes that a step accesses, if they are in SHARED. */
static void want(struct hs_device_comm *on, struct hs_ref ref, int64_t count, const struct hs_group *group,
                 int rotation)
{
    if (ref.slot != HS_SHARED)
        return;
    int rank = ref.of ? hs_group_rank(group, (ref.of - 1 + rotation) % group->size) : 0;
    int64_t *wanted = &on->wanted[ref.of ? hs_place_in_part(on->shm->node, rank) : on->shm->me];
    *wanted = *wanted < ref.at + count ? ref.at + count : *wanted;
}

int hs_device_lacks(struct hs_device_comm *on, const struct hs_list *list, const struct hs_group *group, int rotation,
                    size_t pool)
{
    int members = on->shm->members, lacks = pool > on->pooled.bytes;
    memset(on->wanted, 0, (size_t)members * sizeof *on->wanted);
    on->wanted[members] = (int64_t)pool;
    for (const struct hs_step *step = list->step; step < list->step + list->steps; step++) {
        unsigned touches = hs_step_touches(step);
        if (touches & HS_TOUCHES_DST)
            want(on, step->dst, step->count, group, rotation);
        if (touches & HS_TOUCHES_LEFT)
            want(on, step->left, step->count, group, rotation);
        if (touches & HS_TOUCHES_RIGHT)
            want(on, step->right, step->count, group, rotation);
    }
    for (int m = 0; m < members; m++)
        lacks |= on->wanted[m] > on->held[m];
    return lacks;
}

/* Replaces a share without events by one of `bytes` bytes on this rank. Collective over mates; same status on all. */
static hsumma_status replace(struct hs_device_comm *on, struct hs_device_share *share, int64_t bytes,
                             struct hs_message *message)
{
    struct hs_device_share larger;
    hsumma_status status =
        hs_device_share_make(&larger, on->mates, on->watch, on->device, 0, (size_t)bytes, on->memory, message);
    if (status)
        return status;
    on->device->kind->synchronize(on->device, *on->stream);
    hs_device_share_end(share, on->mates, on->memory);
    *share = larger;
    return HSUMMA_OK;
}

static hsumma_status grow_shared(struct hs_device_comm *on, int64_t *refused, struct hs_message *message)
{
    int members = on->shm->members, depth = HS_LONG_RING, grows = 0;
    int64_t most = 0;
    for (int m = 0; m < members; m++) {
        grows |= on->wanted[m] > on->held[m];
        on->wanted[m] = on->wanted[m] > on->held[m] ? hs_in_pages(on->wanted[m]) : on->held[m];
        most = on->wanted[m] > most ? on->wanted[m] : most;
    }
    if (!grows)
        return HSUMMA_OK;
    while (depth > 1 && most > on->topology.shared_bytes / depth)
        depth /= 2;
    hsumma_status status = replace(on, &on->shared, on->wanted[on->shm->me] * depth, message);
    *refused = status == HSUMMA_ERR_MEMORY ? most * depth : 0;
    if (status)
        return status;
    memcpy(on->held, on->wanted, (size_t)members * sizeof *on->held);
    on->shm->ring[HS_SHARED_RINGS - 1].depth = depth;
    return HSUMMA_OK;
}

hsumma_status hs_device_grow(struct hs_device_comm *on, int64_t *refused, struct hs_message *message)
{
    *refused = 0;
    hsumma_status status =
        hs_mpi_allreduce(on->wanted, on->shm->members + 1, MPI_INT64_T, MPI_MAX, on->mates, on->watch);
    if (status)
        return hs_fail(message, status, "MPI_Iallreduce failed");
    status = grow_shared(on, refused, message);
    size_t pool = (size_t)on->wanted[on->shm->members];
    if (status || pool <= on->pooled.bytes)
        return status;
    status = replace(on, &on->pool, (int64_t)pool, message);
    if (status)
        return status;
    hs_region_remove(&on->region, &on->pooled);
    on->pooled =
        (struct hs_region){.number = HS_REGION_POOL, .part = on->pool.memory, .me = on->pool.me, .bytes = pool};
    hs_region_add(&on->region, &on->pooled);
    return HSUMMA_OK;
}

int hs_device_lower(struct hs_device_comm *on, int64_t refused)
{
    int64_t *limit = &on->topology.shared_bytes, half = (refused < *limit ? refused : *limit) / 2;
    int changes = refused ? *limit > 0 : on->topology.direct;
    if (refused)
        *limit = half / HS_PAGE * HS_PAGE;
    else
        on->topology.direct = 0;
    return changes;
}

hsumma_status hs_device_ask(struct hs_device_comm *on)
{
    int complete;
    return hs_device_complete(on, on->pulse, &complete);
}

hsumma_status hs_device_failed(struct hs_device_comm *on, hsumma_status status)
{
    if (status && !on->failure.text[0])
        hs_fail(&on->failure, status, "process %d: %s", on->rank, on->device->message.text);
    return status;
}

hsumma_status hs_device_enqueue_copy(struct hs_device_comm *on, struct hs_device_copy copy)
{
    return copy.bytes ? hs_device_failed(
                            on, on->device->kind->copy(on->device, *on->stream, copy.to, copy.from, (size_t)copy.bytes))
                      : HSUMMA_OK;
}

hsumma_status hs_device_record(struct hs_device_comm *on, struct hs_event *event)
{
    return hs_device_failed(on, on->device->kind->record(on->device, *on->stream, event));
}

hsumma_status hs_device_wait(struct hs_device_comm *on, struct hs_event *event)
{
    return hs_device_failed(on, on->device->kind->wait(on->device, *on->stream, event));
}

hsumma_status hs_device_complete(struct hs_device_comm *on, struct hs_event *event, int *complete)
{
    return hs_device_failed(on, on->device->kind->complete(on->device, event, complete));
}
