#include "coll/node/device_share.h"

#include "coll/node/agree_mpi.h"

#include <limits.h>

/* An exported object. A rank exports an array of them: its memory, if any, then its events. */
struct shared_export {
    int64_t bytes; /* bytes of the memory; for an event 1 if other processes can wait for it */
    struct hs_exported exported;
};

/* Allocates and exports this rank's memory and events. */
static hsumma_status offer(struct hs_device_share *share, size_t bytes, struct shared_export *mine)
{
    struct hs_device *device = share->device;
    const struct hs_device_kind *kind = device->kind;
    hsumma_status status = HSUMMA_OK;
    mine[0].bytes = (int64_t)bytes;
    if (bytes) {
        void *memory = NULL;
        status = kind->get(device, bytes, &memory);
        share->memory[share->me] = memory;
        if (!status)
            status = kind->export_memory(device, memory, &mine[0].exported);
    }
    struct hs_stream *stream = NULL;
    if (!status && share->events)
        status = kind->make_stream(device, &stream);
    for (int i = 0; i < share->events && !status; i++) {
        struct hs_event **event = &share->event[share->me * share->events + i];
        status = kind->make_event(device, 1, event);
        /* CUDA does not define waiting for another process's event that was never recorded */
        if (!status)
            status = kind->record(device, stream, *event);
        if (!status)
            mine[1 + i].bytes =
                device->shares_events && kind->export_event(device, *event, &mine[1 + i].exported) == HSUMMA_OK;
    }
    if (stream && !status)
        status = kind->synchronize(device, stream);
    if (stream)
        kind->free_stream(device, stream);
    return status;
}

/* Imports the other ranks' memory, and their events if possible. */
static hsumma_status take(struct hs_device_share *share, const struct shared_export *all)
{
    struct hs_device *device = share->device;
    const struct hs_device_kind *kind = device->kind;
    hsumma_status status = HSUMMA_OK;
    for (int r = 0; r < share->ranks && !status; r++) {
        const struct shared_export *exported_as = all + (size_t)r * (size_t)(1 + share->events);
        if (r == share->me)
            continue;
        void *memory = NULL;
        if (exported_as->bytes)
            status = kind->import_memory(device, &exported_as->exported, &memory);
        share->memory[r] = memory;
        for (int i = 0; i < share->events && !status && share->shares_events; i++)
            share->shares_events =
                exported_as[1 + i].bytes && kind->import_event(device, &exported_as[1 + i].exported,
                                                               &share->event[r * share->events + i]) == HSUMMA_OK;
    }
    return status;
}

/* Agrees on a status. The message of an error is that of this rank's device, if this rank has failed. */
static hsumma_status agreed(const struct hs_device_share *share, MPI_Comm mates, hsumma_status mine,
                            struct hs_message *message)
{
    hsumma_status status = hs_agreed(mates, mine, share->watch);
    if (status && mine)
        hs_fail(message, status, "%s", share->device->message.text);
    else if (status)
        hs_fail(message, status, "another process of the node could not share its device memory");
    return status;
}

hsumma_status hs_device_share_make(struct hs_device_share *share, MPI_Comm mates, const struct hs_watch *watch,
                                   struct hs_device *device, int events, size_t bytes,
                                   const struct hs_allocator *memory, struct hs_message *message)
{
    *share = (struct hs_device_share){
        .device = device, .watch = watch, .events = events, .shares_events = device->shares_events};
    MPI_Comm_rank(mates, &share->me);
    MPI_Comm_size(mates, &share->ranks);
    size_t ranks = (size_t)share->ranks, each = 1 + (size_t)events;
    share->event = hs_get_zero(memory, ranks * (each - 1), sizeof(struct hs_event *));
    share->memory = hs_get_zero(memory, ranks, sizeof *share->memory);
    struct shared_export *all = hs_get_zero(memory, ranks * each, sizeof *all);
    struct shared_export *mine = all ? all + (size_t)share->me * each : NULL;
    hsumma_status status = all && share->memory && (share->event || events == 0) ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    if (status)
        hs_fail(&device->message, status, "no memory to share the memory of a device");
    if (!status)
        status = offer(share, bytes, mine);
    status = agreed(share, mates, status, message);
    if (!status && each * sizeof *all > INT_MAX)
        status = hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "too many events to share: %d on a process", events);
    if (!status && (status = hs_mpi_allgather(mine, each * sizeof *all, all, mates, watch)))
        hs_fail(message, status, "MPI_Iallgather of a device's exported memory failed");
    if (!status)
        status = agreed(share, mates, take(share, all), message);
    hs_put(memory, all);
    hsumma_status events_status = hs_agreed(mates, share->shares_events ? HSUMMA_OK : HSUMMA_ERR_UNSUPPORTED, watch);
    share->shares_events = events_status == HSUMMA_OK;
    if (hs_status_is_final(events_status))
        status = hs_fail(message, events_status, "MPI_Iallreduce failed");
    if (status)
        hs_device_share_end(share, mates, memory);
    return status;
}

static void free_events(struct hs_device_share *share, int rank)
{
    for (int i = 0; share->event && i < share->events; i++) {
        struct hs_event **event = &share->event[rank * share->events + i];
        share->device->kind->free_event(share->device, *event);
        *event = NULL;
    }
}

void hs_device_share_leave(struct hs_device_share *share)
{
    struct hs_device *device = share->device;
    for (int r = 0; device && r < share->ranks; r++) {
        if (r == share->me)
            continue;
        free_events(share, r);
        if (share->memory)
            device->kind->unmap(device, share->memory[r]);
        if (share->memory)
            share->memory[r] = NULL;
    }
}

void hs_device_share_free(struct hs_device_share *share, const struct hs_allocator *memory)
{
    struct hs_device *device = share->device;
    hs_device_share_leave(share);
    if (device)
        free_events(share, share->me);
    if (device && share->memory)
        device->kind->put(device, share->memory[share->me]);
    hs_put(memory, share->event);
    hs_put(memory, share->memory);
    *share = (struct hs_device_share){0};
}

void hs_device_share_end(struct hs_device_share *share, MPI_Comm mates, const struct hs_allocator *memory)
{
    hs_device_share_leave(share);
    if (!hs_agreed(mates, HSUMMA_OK, share->watch)) /* all ranks have left */
        hs_device_share_free(share, memory);
}
