/* Streams of the stand-in: queues of work, and the order in which it is done. */
#include "device/stand_in/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* With MOST_PENDING queued pieces a process waits before it enqueues more, as on a GPU. */
enum { MOST_PENDING = 1024, PATIENCE = 64, POLLS_PER_LIFE = 1000 };

static hsumma_status add_handle(struct host_device *own, struct host_queue *queue, int owned, struct hs_stream **stream)
{
    *stream = queue ? hs_get(own->device.memory, 1, sizeof **stream) : NULL;
    if (!*stream)
        return hs_fail(&own->device.message, HSUMMA_ERR_MEMORY, "no memory for a stream");
    **stream = (struct hs_stream){own->stream, queue, owned};
    own->stream = *stream;
    queue->handles++;
    return HSUMMA_OK;
}

hsumma_status host_make_stream(struct hs_device *device, struct hs_stream **stream)
{
    struct host_device *own = host_enter(device);
    struct host_queue *queue = own->wrong ? NULL : hs_get(device->memory, 1, sizeof *queue);
    *stream = NULL;
    if (queue) {
        *queue = (struct host_queue){.next = own->queue, .last = &queue->first};
        own->queue = queue;
    }
    return host_leave(own, own->wrong ? own->wrong : add_handle(own, queue, 1, stream));
}

/* Makes another handle of a stream; `theirs` is the result of host_show_stream. */
hsumma_status host_adopt_stream(struct hs_device *device, void *theirs, struct hs_stream **stream)
{
    struct host_device *own = host_enter(device);
    struct host_queue *queue = own->queue;
    hsumma_status status = own->wrong;
    *stream = NULL;
    while (queue && (queue != theirs || queue->freed))
        queue = queue->next;
    if (!status && !queue)
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "stream %p is not of this device", theirs);
    return host_leave(own, status ? status : add_handle(own, queue, 0, stream));
}

void *host_show_stream(struct hs_device *device, struct hs_stream *stream)
{
    (void)device;
    return stream->queue;
}

void host_free_stream(struct hs_device *device, struct hs_stream *stream)
{
    struct host_device *own = host_enter(device);
    struct hs_stream **link = &own->stream;
    while (stream && *link != stream)
        link = &(*link)->next;
    if (stream) {
        *link = stream->next;
        stream->queue->handles--;
        stream->queue->freed |= stream->owned;
        hs_put(device->memory, stream);
    }
    host_leave(own, HSUMMA_OK);
}

void host_queues_reap(struct host_device *own)
{
    for (struct host_queue **link = &own->queue; *link;) {
        struct host_queue *queue = *link;
        if (queue->handles || queue->first) {
            link = &queue->next;
            continue;
        }
        *link = queue->next;
        hs_put(own->device.memory, queue);
    }
}

/* Whether a process has ended, even if its parent has not yet waited for it. */
static int has_ended(int64_t process)
{
    char path[64], text[512], state = 'Z';
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", process);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    const char *name_end = strrchr(text, ')');
    if (name_end)
        sscanf(name_end, ") %c", &state);
    if (file)
        fclose(file);
    return state == 'Z' || state == 'X';
}

/* Whether a piece must wait for an event. If the event's process has ended, the device fails instead. */
static int stuck(struct host_device *own, const struct host_piece *piece)
{
    const struct hs_event *event = piece->event.event;
    if (piece->kind != HOST_WAIT || own->wrong || host_event_reached(event, piece->event.generation))
        return 0;
    if (!event->process || host_draw(&own->policy) % POLLS_PER_LIFE || !has_ended(event->process) ||
        host_event_reached(event, piece->event.generation))
        return 1;
    own->wrong = hs_fail(&own->why, HSUMMA_ERR_DEVICE,
                         "process %" PRId64 " has ended, whose event a stream is waiting for", event->process);
    return 0;
}

/* Does the first piece of a queue unless it must wait; returns whether it was done. */
static int step(struct host_device *own, struct host_queue *queue)
{
    struct host_piece *piece = queue->first;
    if (!piece || stuck(own, piece))
        return 0;
    queue->first = piece->next;
    if (!queue->first)
        queue->last = &queue->first;
    host_do(own, piece);
    piece->next = own->spare;
    own->spare = piece;
    own->pending--;
    return 1;
}

/* Tries the first piece of every queue except `but`; returns whether any was done. */
static int step_others(struct host_device *own, const struct host_queue *but)
{
    int worked = 0;
    for (struct host_queue *queue = own->queue; queue; queue = queue->next)
        worked |= queue != but && step(own, queue);
    return worked;
}

static int drive_eager(struct host_device *own)
{
    int worked = 0;
    while (step_others(own, NULL))
        worked = 1;
    return worked;
}

static int drive_lazy(struct host_device *own)
{
    for (struct host_queue *queue = own->queue; queue; queue = queue->next)
        if (step(own, queue))
            return 1;
    return 0;
}

static int drive_random(struct host_device *own)
{
    uint64_t pieces = host_draw(&own->policy) % 4, queues = 0;
    int worked = 0;
    for (const struct host_queue *queue = own->queue; queue; queue = queue->next)
        queues++;
    for (; pieces && queues; pieces--) {
        struct host_queue *queue = own->queue;
        for (uint64_t i = host_draw(&own->policy) % queues; i; i--)
            queue = queue->next;
        worked |= step(own, queue);
    }
    return worked;
}

void host_drive(struct host_device *own)
{
    static int (*const drive[])(struct host_device *) = {drive_eager, drive_lazy, drive_random};
    own->asked += (uint64_t)drive[own->policy.order](own);
}

/* Tries the first piece of a queue and, if that must wait, of the other queues; returns whether any was done. */
static int drive_queue(struct host_device *own, struct host_queue *queue)
{
    int worked = step(own, queue) || step_others(own, queue);
    own->asked += (uint64_t)worked;
    return worked;
}

/* Releases the lock, so that another thread, such as the hands, can run. After PATIENCE polls without progress also
 * yields the core. */
static void rest(struct host_device *own, int *times, int worked)
{
    *times = worked ? 0 : *times + 1;
    pthread_mutex_unlock(&own->lock);
    if (*times > PATIENCE)
        sched_yield();
    pthread_mutex_lock(&own->lock);
}

void host_finish(struct host_device *own, struct host_queue *queue)
{
    int times = 0;
    while (queue ? queue->first != NULL : own->pending > 0)
        rest(own, &times, queue ? drive_queue(own, queue) : step_others(own, NULL));
}

hsumma_status host_synchronize(struct hs_device *device, struct hs_stream *stream)
{
    struct host_device *own = host_enter(device);
    host_finish(own, stream->queue);
    if (own->wrong)
        device->message = own->why;
    return host_leave(own, own->wrong);
}

hsumma_status host_piece(struct host_device *own, struct hs_stream *stream, enum host_kind kind,
                         struct host_piece **piece)
{
    int times = 0;
    *piece = NULL;
    if (stream->queue->freed)
        return hs_fail(&own->device.message, HSUMMA_ERR_DEVICE, "the stream has been freed by who made it");
    while (own->pending >= MOST_PENDING)
        rest(own, &times, step_others(own, NULL));
    *piece = own->spare ? own->spare : hs_get(own->device.memory, 1, sizeof **piece);
    if (!*piece)
        return hs_fail(&own->device.message, HSUMMA_ERR_MEMORY, "no memory for work on a stream");
    if (own->spare)
        own->spare = own->spare->next;
    **piece = (struct host_piece){.kind = kind};
    return HSUMMA_OK;
}

void host_enqueue(struct host_device *own, struct hs_stream *stream, struct host_piece *piece)
{
    struct host_queue *queue = stream->queue;
    *queue->last = piece;
    queue->last = &piece->next;
    if (own->pending++ == 0)
        pthread_cond_signal(&own->news);
    if (own->policy.order == HOST_EAGER || (own->policy.order == HOST_RANDOM && host_draw(&own->policy) % 4 == 0))
        host_drive(own);
}

static void in_a_moment(struct timespec *time, int64_t microseconds)
{
    clock_gettime(CLOCK_MONOTONIC, time);
    time->tv_nsec += microseconds % 1000000 * 1000;
    time->tv_sec += microseconds / 1000000 + time->tv_nsec / 1000000000;
    time->tv_nsec %= 1000000000;
}

/* The device's thread. After a pause it retries work that waits for another process. */
void *host_hands(void *device)
{
    struct host_device *own = device;
    pthread_mutex_lock(&own->lock);
    while (!own->closing) {
        struct timespec until;
        uint64_t asked = own->asked;
        int times = 0;
        if (!own->pending) {
            pthread_cond_wait(&own->news, &own->lock);
            continue;
        }
        in_a_moment(&until, own->policy.hold);
        while (!own->closing && pthread_cond_timedwait(&own->news, &own->lock, &until) != ETIMEDOUT)
            continue;
        while (!own->closing && own->asked == asked && step_others(own, NULL))
            rest(own, &times, 1);
    }
    pthread_mutex_unlock(&own->lock);
    return NULL;
}
