/* Events of the stand-in: slots in memory that other processes map. */
#include "device/stand_in/parts.h"

enum { SLOTS_BYTES = 1 << 16, HOST_SLOTS = SLOTS_BYTES / sizeof(struct host_slot) };

/* A slot of own memory that no event has. */
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

static struct hs_event *add(struct host_device *own, const struct hs_event *is)
{
    struct hs_event *event = hs_get(own->device.memory, 1, sizeof *event);
    if (event) {
        *event = *is;
        event->next = own->event;
        event->held = 1;
        own->event = event;
    }
    return event;
}

hsumma_status host_event_make(struct host_device *own, int shared, struct hs_event **event)
{
    struct host_block *slots = own->block;
    struct host_slot *slot = NULL;
    hsumma_status status = HSUMMA_OK;
    *event = NULL;
    if (++own->events == own->policy.refuse_event)
        return hs_fail(&own->device.message, HSUMMA_ERR_DEVICE, "an event cannot be made (event=%lld)",
                       (long long)own->policy.refuse_event);
    for (; slots && !slot; slots = slot ? slots : slots->next)
        if (slots->of_events && slots->kind == HS_MEMORY_DEVICE)
            slot = free_slot(own, slots);
    if (!slot) {
        status = host_get(own, SLOTS_BYTES, 1, &slots);
        slot = status ? NULL : (struct host_slot *)slots->base;
    }
    if (status)
        return status;
    /* others may still look at the slot's last event: it counts on */
    *event = add(
        own, &(struct hs_event){.slots = slots, .slot = slot, .shared = shared, .first = atomic_load(&slot->recorded)});
    return *event ? HSUMMA_OK : hs_fail(&own->device.message, HSUMMA_ERR_MEMORY, "no memory for an event");
}

hsumma_status host_event_import(struct host_device *own, const struct hs_exported *exported, struct hs_event **event)
{
    struct host_block *slots;
    int64_t offset, process;
    *event = NULL;
    hsumma_status status = host_import(own, exported, 1, &slots, &offset, &process);
    if (status)
        return status;
    struct host_slot *slot = (struct host_slot *)(slots->base + offset);
    *event = add(own, &(struct hs_event){.slots = slots, .slot = slot, .process = process});
    if (*event)
        return HSUMMA_OK;
    host_put(own, slots);
    return hs_fail(&own->device.message, HSUMMA_ERR_MEMORY, "no memory for an event");
}

void host_event_free(struct host_device *own, struct hs_event *event)
{
    if (event)
        event->held = 0;
    host_events_reap(own);
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
            host_put(own, event->slots);
        hs_put(own->device.memory, event);
    }
}

int host_event_reached(const struct hs_event *event, uint64_t generation)
{
    return generation == event->first || atomic_load(&event->slot->done[generation % HOST_DONE]) >= generation;
}
