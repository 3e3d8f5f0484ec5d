/* Events of the stand-in: slots in memory that other processes can map. */
#include "device/stand_in/parts.h"

enum { SLOTS_BYTES = 1 << 16, HOST_SLOTS = SLOTS_BYTES / sizeof(struct host_slot) };

/* An unused slot among those of a block of memory, or NULL. */
static struct host_slot *free_slot(const struct host_device *own, const struct host_block *slots)
{
    unsigned char taken[HOST_SLOTS] = {0};
    struct host_slot *first = (struct host_slot *)slots->base;
    for (const struct hs_event *event = own->event; event; event = event->next)
        if (event->slots == slots)
            taken[event->slot - first] = 1;
    for (size_t i = 0; i < HOST_SLOTS; i++)
        if (!taken[i])
            return &first[i];
    return NULL;
}

/* Finds an unused slot in this process's memory, adding a block if there is none. */
static hsumma_status take_slot(struct host_device *own, struct host_block **slots, struct host_slot **slot)
{
    *slot = NULL;
    for (struct host_block *block = own->block; block && !*slot; block = block->next)
        if (block->of_events && block->kind == HS_MEMORY_DEVICE && (*slot = free_slot(own, block)))
            *slots = block;
    if (*slot)
        return HSUMMA_OK;
    hsumma_status status = host_block_get(own, SLOTS_BYTES, 1, slots);
    *slot = status ? NULL : (struct host_slot *)(*slots)->base;
    return status;
}

static hsumma_status add(struct host_device *own, const struct hs_event *is, struct hs_event **event)
{
    *event = hs_get(own->device.memory, 1, sizeof **event);
    if (!*event)
        return hs_fail(&own->device.message, HSUMMA_ERR_MEMORY, "no memory for an event");
    **event = *is;
    (*event)->next = own->event;
    (*event)->held = 1;
    own->event = *event;
    return HSUMMA_OK;
}

hsumma_status host_make_event(struct hs_device *device, int shared, struct hs_event **event)
{
    struct host_device *own = host_enter(device);
    struct host_block *slots;
    struct host_slot *slot;
    hsumma_status status = own->wrong;
    *event = NULL;
    if (!status && ++own->events == own->policy.refuse_event)
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "an event cannot be made (event=%lld)",
                         (long long)own->policy.refuse_event);
    if (!status)
        status = take_slot(own, &slots, &slot);
    /* generations continue from the slot's last event, which other processes may still read */
    if (!status)
        status = add(
            own,
            &(struct hs_event){.slots = slots, .slot = slot, .shared = shared, .first = atomic_load(&slot->recorded)},
            event);
    return host_leave(own, status);
}

hsumma_status host_export_event(struct hs_device *device, struct hs_event *event, struct hs_exported *exported)
{
    struct host_device *own = host_enter(device);
    hsumma_status status = own->wrong;
    if (!status && (own->policy.no_events || !event->shared || event->process))
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "the event was not made to be shared");
    if (!status)
        status = host_block_export(own, event->slots, (char *)event->slot - event->slots->base, exported);
    return host_leave(own, status);
}

hsumma_status host_import_event(struct hs_device *device, const struct hs_exported *exported, struct hs_event **event)
{
    struct host_device *own = host_enter(device);
    struct host_block *slots = NULL;
    int64_t offset, process;
    hsumma_status status = own->wrong;
    *event = NULL;
    if (!status && own->policy.no_events)
        status = hs_fail(&device->message, HSUMMA_ERR_DEVICE, "events of other processes cannot be had (noevents)");
    if (!status)
        status = host_block_import(own, exported, 1, &slots, &offset, &process);
    if (!status) {
        struct host_slot *slot = (struct host_slot *)(slots->base + offset);
        status = add(own, &(struct hs_event){.slots = slots, .slot = slot, .process = process}, event);
        if (status)
            host_block_put(own, slots);
    }
    return host_leave(own, status);
}

void host_free_event(struct hs_device *device, struct hs_event *event)
{
    struct host_device *own = host_enter(device);
    if (event)
        event->held = 0;
    host_events_reap(own);
    host_leave(own, HSUMMA_OK);
}

void host_events_reap(struct host_device *own)
{
    for (struct hs_event **link = &own->event; *link;) {
        struct hs_event *event = *link;
        if (event->held || event->uses) {
            link = &event->next;
            continue;
        }
        *link = event->next;
        if (event->process)
            host_block_put(own, event->slots);
        hs_put(own->device.memory, event);
    }
}

int host_event_reached(const struct hs_event *event, uint64_t generation)
{
    return generation == event->first || atomic_load(&event->slot->done[generation % HOST_DONE]) >= generation;
}

/* Enqueues the recording of an event's next generation, or a wait for its latest one. */
static hsumma_status put_event(struct hs_device *device, struct hs_stream *stream, enum host_kind kind,
                               struct hs_event *event)
{
    struct host_device *own = host_enter(device);
    struct host_piece *piece = NULL;
    hsumma_status status = own->wrong;
    if (!status)
        status = host_piece(own, stream, kind, &piece);
    if (!status) {
        _Atomic uint64_t *recorded = &event->slot->recorded;
        piece->event.event = event;
        piece->event.generation = kind == HOST_RECORD ? atomic_fetch_add(recorded, 1) + 1 : atomic_load(recorded);
        event->uses++;
        host_enqueue(own, stream, piece);
    }
    return host_leave(own, status);
}

hsumma_status host_record(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    return put_event(device, stream, HOST_RECORD, event);
}

hsumma_status host_wait(struct hs_device *device, struct hs_stream *stream, struct hs_event *event)
{
    return put_event(device, stream, HOST_WAIT, event);
}

hsumma_status host_complete(struct hs_device *device, struct hs_event *event, int *is)
{
    struct host_device *own = host_enter(device);
    hsumma_status status = own->wrong;
    if (!status)
        host_drive(own);
    *is = host_event_reached(event, atomic_load(&event->slot->recorded));
    return host_leave(own, status);
}
