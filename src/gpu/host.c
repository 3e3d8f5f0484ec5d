/* The table of the host device: takes the lock, and tells of work that has failed. */
#include "base/operators.h"
#include "gpu/devices.h"
#include "gpu/host_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What every call begins with; the status is that of work that has failed. */
static hsumma_status enter(struct hs_device *device, struct host_device **own)
{
    *own = (struct host_device *)device;
    pthread_mutex_lock(&(*own)->lock);
    host_events_reap(*own);
    host_streams_reap(*own);
    if ((*own)->wrong)
        device->message = (*own)->why;
    return (*own)->wrong;
}

static hsumma_status leave(struct host_device *own, hsumma_status status)
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
    struct host_device *own;
    if (!device)
        return;
    enter(device, &own);
    host_finish(own, NULL);
    own->closing = 1;
    pthread_cond_signal(&own->news);
    leave(own, HSUMMA_OK);
    if (own->has_hands)
        pthread_join(own->hands, NULL);
    while (own->stream)
        host_stream_free(own, own->stream);
    host_streams_reap(own);
    for (struct hs_event *event = own->event; event; event = event->next)
        event->held = 0;
    host_events_reap(own);
    while (own->block) {
        own->block->uses = 0;
        host_put(own, own->block);
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
    own->device = (struct hs_device){.kind = &hs_device_host, .memory = memory, .shares_events = !policy.no_events};
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

static hsumma_status get(struct hs_device *device, size_t bytes, void **memory)
{
    struct host_device *own;
    struct host_block *block = NULL;
    hsumma_status status = enter(device, &own);
    if (!status)
        status = host_get(own, bytes, 0, &block);
    *memory = block ? block->base : NULL;
    return leave(own, status);
}

static hsumma_status get_pinned(struct hs_device *device, size_t bytes, void **memory)
{
    struct host_device *own;
    *memory = NULL;
    hsumma_status status = enter(device, &own);
    return leave(own, status ? status : host_get_pinned(own, bytes, memory));
}

static void put(struct hs_device *device, void *memory)
{
    struct host_device *own;
    if (!memory)
        return;
    enter(device, &own);
    host_finish(own, NULL);
    struct host_block *block = host_block_of(own, memory);
    host_put(own, block && block->base == memory ? block : NULL);
    leave(own, HSUMMA_OK);
}

/* Does not wait: work that still speaks of it fails. */
static void unmap(struct hs_device *device, void *imported)
{
    struct host_device *own;
    if (!imported)
        return;
    enter(device, &own);
    struct host_block *block = host_block_of(own, imported);
    host_put(own, block && block->base == imported && block->kind == HS_MEMORY_OTHER ? block : NULL);
    leave(own, HSUMMA_OK);
}

static enum hs_memory_kind classify(struct hs_device *device, const void *address)
{
    struct host_device *own;
    enter(device, &own);
    const struct host_block *block = host_block_of(own, address);
    enum hs_memory_kind kind = block ? block->kind : HS_MEMORY_HOST;
    leave(own, HSUMMA_OK);
    return kind;
}

static hsumma_status memory_left(struct hs_device *device, int64_t *left, int64_t *total)
{
    struct host_device *own;
    int64_t most = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 4;
    hsumma_status status = enter(device, &own);
    *total = own->policy.memory < most ? own->policy.memory : most;
    *left = own->used < *total ? *total - own->used : 0;
    return leave(own, status);
}

static hsumma_status export_memory(struct hs_device *device, void *memory, struct hs_exported *exported)
{
    struct host_device *own;
    hsumma_status status = enter(device, &own);
    const struct host_block *block = host_block_of(own, memory);
    if (!status)
        status = host_export(own, block && block->base == memory ? block : NULL, 0, exported);
    return leave(own, status);
}

static hsumma_status import_memory(struct hs_device *device, const struct hs_exported *exported, void **memory)
{
    struct host_device *own;
    struct host_block *block = NULL;
    int64_t offset, process;
    hsumma_status status = enter(device, &own);
    if (!status)
        status = host_import(own, exported, 0, &block, &offset, &process);
    *memory = block ? block->base : NULL;
    return leave(own, status);
}

static hsumma_status export_event(struct hs_device *device, struct hs_event *event, struct hs_exported *exported)
{
    struct host_device *own;
    hsumma_status status = enter(device, &own);
    if (!status && (own->policy.no_events || !event->shared || event->process))
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "the event was not made to be shared");
    if (!status)
        status = host_export(own, event->slots, (char *)event->slot - event->slots->base, exported);
    return leave(own, status);
}

static hsumma_status import_event(struct hs_device *device, const struct hs_exported *exported, struct hs_event **event)
{
    struct host_device *own;
    *event = NULL;
    hsumma_status status = enter(device, &own);
    if (!status && own->policy.no_events)
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "events of other processes cannot be had (noevents)");
    return leave(own, status ? status : host_event_import(own, exported, event));
}

static hsumma_status make_stream(struct hs_device *device, struct hs_stream **stream)
{
    struct host_device *own;
    *stream = NULL;
    hsumma_status status = enter(device, &own);
    return leave(own, status ? status : host_stream_make(own, stream));
}

/* theirs: what show_stream has given, for another handle of the same stream. */
static hsumma_status adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream)
{
    struct host_device *own;
    *stream = NULL;
    hsumma_status status = enter(device, &own);
    struct host_queue *queue = own->queue;
    while (queue && (queue != theirs || queue->freed))
        queue = queue->next;
    if (!status && !queue)
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "stream %p is not of this device", theirs);
    return leave(own, status ? status : host_stream_handle(own, queue, stream));
}

static void *show_stream(struct hs_device *device, struct hs_stream *stream)
{
    (void)device;
    return stream->queue;
}

static void free_stream(struct hs_device *device, struct hs_stream *stream)
{
    struct host_device *own;
    enter(device, &own);
    host_stream_free(own, stream);
    leave(own, HSUMMA_OK);
}

static hsumma_status make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    struct host_device *own;
    *event = NULL;
    hsumma_status status = enter(device, &own);
    return leave(own, status ? status : host_event_make(own, shared, event));
}

static void free_event(struct hs_device *device, struct hs_event *event)
{
    struct host_device *own;
    enter(device, &own);
    host_event_free(own, event);
    leave(own, HSUMMA_OK);
}

/* Puts a piece that speaks of an event on a stream: of its latest generation, or of the next one. */
static hsumma_status put_event(struct hs_device *device, struct hs_stream *stream, enum host_kind kind,
                               struct hs_event *event)
{
    struct host_device *own;
    struct host_piece *piece = NULL;
    hsumma_status status = enter(device, &own);
    if (!status)
        status = host_piece(own, stream, kind, &piece);
    if (!status) {
        _Atomic uint64_t *recorded = &event->slot->recorded;
        piece->event.event = event;
        piece->event.generation = kind == HOST_RECORD ? atomic_fetch_add(recorded, 1) + 1 : atomic_load(recorded);
        event->uses++;
        host_enqueue(own, stream, piece);
    }
    return leave(own, status);
}

static hsumma_status record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    return put_event(device, stream, HOST_RECORD, event);
}

static hsumma_status wait_for(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    return put_event(device, stream, HOST_WAIT, event);
}

static hsumma_status complete(struct hs_device *device, struct hs_event *event, int *is)
{
    struct host_device *own;
    hsumma_status status = enter(device, &own);
    if (!status)
        host_drive(own);
    *is = host_event_reached(event, atomic_load(&event->slot->recorded));
    return leave(own, status);
}

static hsumma_status synchronize(struct hs_device *device, struct hs_stream *stream)
{
    struct host_device *own;
    hsumma_status status = enter(device, &own);
    host_finish(own, stream->queue);
    if (!status && own->wrong) {
        status = own->wrong;
        device->message = own->why;
    }
    return leave(own, status);
}

/* Puts work on a stream if its memory is the device's. */
static hsumma_status put_work(struct hs_device *device, struct hs_stream *stream, const struct host_piece *work)
{
    struct host_device *own;
    struct host_piece *piece = NULL;
    hsumma_status status = enter(device, &own);
    if (!status)
        status = host_check(own, work, &device->message);
    if (!status)
        status = host_piece(own, stream, work->kind, &piece);
    if (!status) {
        *piece = *work;
        host_enqueue(own, stream, piece);
    }
    return leave(own, status);
}

static hsumma_status copy_block(struct hs_device *device, struct hs_stream *stream, void *dst, size_t dst_pitch,
                                const void *src, size_t src_pitch, size_t bytes, size_t columns)
{
    struct host_piece piece = {.kind = HOST_COPY, .copy = {dst, src, dst_pitch, src_pitch, bytes, columns}};
    return bytes && columns ? put_work(device, stream, &piece) : HSUMMA_OK;
}

static hsumma_status copy(struct hs_device *device, struct hs_stream *stream, void *dst, const void *src, size_t bytes)
{
    return copy_block(device, stream, dst, bytes, src, bytes, bytes, 1);
}

static hsumma_status combine(struct hs_device *device, struct hs_stream *stream, void *dst, const void *const *operand,
                             int operands, int64_t count, hsumma_element element, hsumma_op op)
{
    int64_t bytes = count * (int64_t)hs_element_size(element);
    struct host_piece piece = {
        .kind = HOST_COMBINE,
        .combine = {.dst = dst, .operands = operands, .bytes = bytes, .function = hs_operator_of(element, op)}};
    if (!piece.combine.function)
        return hs_fail(&device->message, HSUMMA_ERR_UNSUPPORTED, "no %s for %s", hs_op_name(op),
                       hs_element_name(element));
    if (operands < 1 || operands > HS_COMBINE_MOST)
        return hs_fail(&device->message, HSUMMA_ERR_DEVICE, "combine: operands is %d; expected 1 to %d", operands,
                       HS_COMBINE_MOST);
    for (int i = 0; i < operands; i++)
        piece.combine.operand[i] = operand[i];
    return bytes > 0 ? put_work(device, stream, &piece) : HSUMMA_OK;
}

static hsumma_status update(struct hs_device *device, struct hs_stream *stream, hsumma_type type, int64_t rows,
                            int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds)
{
    struct host_piece piece = {.kind = HOST_UPDATE, .update = {type, rows, cols, ldc, lds, {0}, c, s}};
    memcpy(&piece.update.beta, beta, hs_scalars[type].size);
    return put_work(device, stream, &piece);
}

static hsumma_status gemm(struct hs_device *device, struct hs_stream *stream, hsumma_type type, char transa,
                          char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                          const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    struct host_piece piece = {.kind = HOST_GEMM,
                               .gemm = {type, transa, transb, m, n, k, lda, ldb, ldc, {0}, {0}, a, b, c}};
    memcpy(&piece.gemm.alpha, alpha, hs_scalars[type].size);
    memcpy(&piece.gemm.beta, beta, hs_scalars[type].size);
    return put_work(device, stream, &piece);
}

const struct hs_device_kind hs_device_host = {
    .name = "host",
    .is_stand_in = 1,
    .doc = "memory of the host that the processes of a node share, in place of a GPU's: for tests",
    .open = open_host,
    .close = close_host,
    .get = get,
    .put = put,
    .get_pinned = get_pinned,
    .put_pinned = put,
    .classify = classify,
    .memory_left = memory_left,
    .export_memory = export_memory,
    .import_memory = import_memory,
    .unmap = unmap,
    .export_event = export_event,
    .import_event = import_event,
    .make_stream = make_stream,
    .adopt_stream = adopt_stream,
    .show_stream = show_stream,
    .free_stream = free_stream,
    .make_event = make_event,
    .free_event = free_event,
    .record = record,
    .wait = wait_for,
    .complete = complete,
    .synchronize = synchronize,
    .copy = copy,
    .copy_block = copy_block,
    .combine = combine,
    .update = update,
    .gemm = gemm,
};
