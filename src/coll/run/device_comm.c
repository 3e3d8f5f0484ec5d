#include "coll/run/device_comm.h"

#include "coll/node/agree_mpi.h"
#include "coll/node/mapping.h"
#include "coll/node/shm_make.h"

enum { DEVICE_SHARED_BYTES = 4 << 20 };

/* Creates the flags in host memory, and SHARED and the events on devices. Collective over the node's ranks. */
static hsumma_status make_shm(struct hs_device_comm *on, const struct hs_comm *comm, int64_t shared_bytes,
                              struct hs_message *why)
{
    const struct hs_discover_options posts = {.posts = 1};
    on->shm = hs_shm_make(on->mates, comm, &posts, on->memory);
    if (!on->shm)
        return hs_fail(why, HSUMMA_ERR_UNSUPPORTED, "processes of a node cannot share host memory");
    on->shm->shared_bytes = shared_bytes;
    on->shm->direct = 1;
    on->shm->share = &on->share;
    return hs_device_share_make(&on->share, on->mates, on->device, HS_RING * HS_SLOT_EVENTS,
                                (size_t)(shared_bytes * HS_RING), on->memory, why);
}

static void leave_shm(struct hs_device_comm *on)
{
    if (on->mates != MPI_COMM_NULL)
        hs_device_share_end(&on->share, on->mates, on->memory);
    hs_shm_free_memory(on->shm, on->memory);
    if (on->mates != MPI_COMM_NULL)
        MPI_Comm_free(&on->mates);
    on->shm = NULL;
}

/* Shares device memory on all nodes or on none, as hs_comm_discover does with host memory. */
static hsumma_status share(struct hs_device_comm *on, struct hs_comm *comm, const struct hs_device_options *options)
{
    int64_t shared_bytes = options->shared_bytes < 0 ? DEVICE_SHARED_BYTES : hs_in_pages(options->shared_bytes);
    if (hs_division_largest(&comm->topology.division[HS_NODE]) == 1 || shared_bytes == 0)
        return HSUMMA_OK;
    hsumma_status status = HSUMMA_ERR_UNSUPPORTED;
    if (comm->mates.comm != MPI_COMM_NULL)
        status = hs_agreed(comm->comm,
                           MPI_Comm_dup(comm->mates.comm, &on->mates) == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI);
    if (!status)
        status = hs_agreed(comm->comm, make_shm(on, comm, shared_bytes, &on->note));
    if (!status) {
        on->topology.shared_bytes = shared_bytes;
        on->topology.direct = options->direct;
        return HSUMMA_OK;
    }
    leave_shm(on);
    if (!on->note.text[0])
        hs_fail(&on->note, status, "the processes of some node cannot share host or device memory");
    return status == HSUMMA_ERR_MPI ? status : HSUMMA_OK;
}

hsumma_status hs_device_comm_make(struct hs_comm *comm, struct hs_device *device, struct hs_stream *const *stream,
                                  const struct hs_device_options *options, const struct hs_allocator *memory,
                                  struct hs_message *message)
{
    struct hs_device_comm *on = hs_get_zero(memory, 1, sizeof *on);
    hsumma_status status = on ? HSUMMA_OK : hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a device");
    if (on) {
        *on = (struct hs_device_comm){.device = device, .stream = stream, .memory = memory, .rank = comm->rank};
        on->mates = MPI_COMM_NULL;
        on->topology = comm->topology;
        status = device->kind->make_event(device, 0, &on->pulse);
        if (!status && comm->size > 1)
            status = hs_bounce_make(&on->bounce, device, options->gpu_aware);
        if (status)
            hs_fail(message, status, "process %d: %s", comm->rank, device->message.text);
    }
    comm->device = on;
    status = hs_agreed(comm->comm, status);
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
        hs_device_share_free(&on->share, on->memory);
        hs_shm_free_memory(on->shm, on->memory);
    }
    hs_bounce_free(&on->bounce, on->device, broken);
    on->device->kind->free_event(on->device, on->pulse);
    if (on->mates != MPI_COMM_NULL && !finalised)
        MPI_Comm_free(&on->mates);
    if (!broken)
        hs_put(on->memory, on);
}

char *hs_device_region_at(const struct hs_device_comm *on, int64_t number, int member, size_t offset)
{
    return hs_region_at(on->region, number, member, offset);
}

hsumma_status hs_device_pool_want(struct hs_device_comm *on, size_t bytes, struct hs_message *message)
{
    if (bytes <= on->pooled.bytes)
        return HSUMMA_OK;
    struct hs_device_share larger;
    hsumma_status status = hs_device_share_make(&larger, on->mates, on->device, 0, bytes, on->memory, message);
    if (status)
        return status;
    on->device->kind->synchronize(on->device, *on->stream);
    hs_device_share_end(&on->pool, on->mates, on->memory);
    on->pool = larger;
    hs_region_remove(&on->region, &on->pooled);
    on->pooled =
        (struct hs_region){.number = HS_REGION_POOL, .part = on->pool.memory, .me = on->pool.me, .bytes = bytes};
    hs_region_add(&on->region, &on->pooled);
    return HSUMMA_OK;
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
