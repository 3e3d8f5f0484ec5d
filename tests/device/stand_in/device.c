/* The stand-in as a device: its table of functions, opening and closing, the start and the end of every call. */
#include "device/stand_in/parts.h"

#include <stdio.h>
#include <stdlib.h>

struct host_device *host_enter(struct hs_device *device)
{
    struct host_device *own = (struct host_device *)device;
    pthread_mutex_lock(&own->lock);
    host_events_reap(own);
    host_queues_reap(own);
    if (own->wrong)
        device->message = own->why;
    return own;
}

hsumma_status host_leave(struct host_device *own, hsumma_status status)
{
    pthread_mutex_unlock(&own->lock);
    return status;
}

static hsumma_status start_hands(struct host_device *own)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&own->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&own->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    own->has_hands = pthread_create(&own->hands, NULL, host_hands, own) == 0;
    return own->has_hands ? HSUMMA_OK : HSUMMA_ERR_DEVICE;
}

static void close_host(struct hs_device *device)
{
    if (!device)
        return;
    struct host_device *own = host_enter(device);
    host_finish(own, NULL);
    own->closing = 1;
    pthread_cond_signal(&own->news);
    host_leave(own, HSUMMA_OK);
    if (own->has_hands)
        pthread_join(own->hands, NULL);
    while (own->stream)
        host_free_stream(device, own->stream);
    host_queues_reap(own);
    for (struct hs_event *event = own->event; event; event = event->next)
        event->held = 0;
    host_events_reap(own);
    while (own->block) {
        own->block->uses = 0;
        host_block_put(own, own->block);
    }
    while (own->spare) {
        struct host_piece *piece = own->spare;
        own->spare = piece->next;
        hs_put(device->memory, piece);
    }
    pthread_cond_destroy(&own->news);
    pthread_mutex_destroy(&own->lock);
    hs_put(device->memory, own);
}

static hsumma_status open_host(int number, int local_rank, const struct hs_allocator *memory, struct hs_device **device,
                               struct hs_message *message)
{
    struct host_policy policy;
    *device = NULL;
    hsumma_status status = host_policy_read(getenv("HSUMMA_HOST_DEVICE"), number, local_rank, &policy, message);
    if (status)
        return status;
    struct host_device *own = hs_get_zero(memory, 1, sizeof *own);
    if (!own)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a device");
    own->policy = policy;
    own->device = (struct hs_device){.kind = &hs_stand_in_device, .memory = memory, .shares_events = !policy.no_events};
    snprintf(own->device.name, sizeof own->device.name, "memory of the host");
    snprintf(own->device.location, sizeof own->device.location, "host:%lld",
             number < 0 ? (long long)(local_rank % policy.devices) : (long long)number);
    if (start_hands(own)) {
        close_host(&own->device);
        return hs_fail(message, HSUMMA_ERR_DEVICE, "no thread for the device \"host\"");
    }
    *device = &own->device;
    return HSUMMA_OK;
}

const struct hs_device_kind hs_stand_in_device = {
    .name = "host",
    .is_stand_in = 1,
    .open = open_host,
    .close = close_host,
    .get = host_get,
    .put = host_put,
    .get_pinned = host_get_pinned,
    .put_pinned = host_put,
    .classify = host_classify,
    .memory_left = host_memory_left,
    .export_memory = host_export_memory,
    .import_memory = host_import_memory,
    .unmap = host_unmap,
    .export_event = host_export_event,
    .import_event = host_import_event,
    .make_stream = host_make_stream,
    .adopt_stream = host_adopt_stream,
    .show_stream = host_show_stream,
    .free_stream = host_free_stream,
    .make_event = host_make_event,
    .free_event = host_free_event,
    .record = host_record,
    .wait = host_wait,
    .complete = host_complete,
    .synchronize = host_synchronize,
    .copy = host_copy,
    .copy_block = host_copy_block,
    .combine = host_combine,
    .update = host_update,
    .gemm = host_gemm,
};
