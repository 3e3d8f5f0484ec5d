#include "coll/run/executor_device.h"

#include "base/operators.h"
#include "coll/run/device_comm.h"
#include "coll/run/executor_parts.h"

/* Event i of a member in the slot of instance `number`. */
static struct hs_event *event_in(const struct hs_instance *instance, int64_t number, int member, int i)
{
    int64_t slot = number % HS_LONG_RING;
    return hs_device_share_event(instance->bound.shm->share, member, (int)(slot * HS_SLOT_EVENTS) + i);
}

static struct hs_event *slot_event(const struct hs_instance *instance, int member, int i)
{
    return event_in(instance, instance->bound.instance, member, i);
}

char *hs_device_address(const struct hs_instance *instance, struct hs_ref ref)
{
    const struct hs_binding *bound = &instance->bound;
    const struct hs_shm *shm = bound->shm;
    int member = ref.of ? hs_member_of(instance, ref.of - 1) : 0;
    if (ref.slot == HS_SHARED)
        return hs_device_shared_at(bound->device, bound->instance, ref.of ? member : shm->me) + ref.at;
    if (!ref.of)
        return (char *)bound->slot[ref.slot] + ref.at;
    const struct hs_post *post = hs_shm_post(shm, bound->instance, member);
    int which = ref.slot == HS_OUT;
    char *memory = hs_region_at(bound->device->region, post->region[which], member, post->address[which]);
    return memory ? memory + ref.at : NULL;
}

void hs_device_begin(struct hs_instance *instance)
{
    struct hs_instance **link = &instance->bound.device->first;
    while (*link)
        link = &(*link)->next;
    *link = instance;
    instance->next = NULL;
    instance->signals = instance->ended = 0;
}

/* Publishes the regions and offsets of this rank's exposed IN and OUT. */
static void publish(const struct hs_instance *instance)
{
    const struct hs_binding *bound = &instance->bound;
    struct hs_post *post = hs_shm_post(bound->shm, bound->instance, bound->shm->me);
    for (int which = 0; which < 2; which++) {
        enum hs_slot slot = which ? HS_OUT : HS_IN;
        const struct hs_region *region = NULL;
        size_t offset = 0;
        if (bound->list->exposed & 1u << slot)
            region = hs_region_of(bound->device->region, bound->slot[slot], 1, &offset);
        post->region[which] = region ? region->number : HS_REGION_NONE;
        post->address[which] = offset;
    }
}

/* Instances use the pool one at a time, in the order of their start, which is the same on all ranks. */
static int has_pool(const struct hs_instance *instance)
{
    if (!instance->bound.io || !instance->bound.io->pool)
        return 1;
    for (const struct hs_instance *other = instance->bound.device->first; other != instance; other = other->next)
        if (other->bound.io && other->bound.io->pool && !other->ended)
            return 0;
    return 1;
}

hsumma_status hs_device_enter(struct hs_instance *instance, int *entered)
{
    const struct hs_binding *bound = &instance->bound;
    struct hs_device_comm *on = bound->device;
    hsumma_status status = HSUMMA_OK;
    if (!has_pool(instance))
        return HSUMMA_OK;
    int64_t before = bound->shm ? bound->instance - bound->shm->ring[bound->ring].depth : -1;
    for (int m = 0; before >= 0 && m < bound->shm->members && !status; m++)
        if (m != bound->shm->me && bound->shm->share->shares_events)
            status = hs_device_wait(on, event_in(instance, before, m, HS_SLOT_SIGNALS));
    for (int i = 0; bound->io && i < 2 && !status; i++)
        status = hs_device_enqueue_copy(on, bound->io->before[i]);
    if (bound->shm && !status)
        publish(instance);
    *entered = !status;
    return status;
}

static int apart(struct hs_ref a, struct hs_ref b, int64_t bytes)
{
    return a.slot != b.slot || a.of != b.of || a.at + bytes <= b.at || b.at + bytes <= a.at;
}

/* True if a step adds one more operand to the result of step `sum`, in place, and its dependencies are done. */
static int goes_on(const struct hs_instance *instance, const struct hs_step *sum, int index)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    return step->kind == HS_REDUCE && instance->state[index] == HS_STEP_WAITING && step->count == sum->count &&
           hs_same_ref(step->dst, sum->dst) && hs_same_ref(step->left, sum->dst) &&
           apart(step->right, sum->dst, sum->count) && hs_deps_done(instance, step);
}

/* A REDUCE, with those later ones in the window that add to its result and may begin, as one operation. */
static hsumma_status reduce(struct hs_instance *instance, int index)
{
    const struct hs_binding *bound = &instance->bound;
    const struct hs_step *all = bound->list->step, *step = &all[index];
    struct hs_device_comm *on = bound->device;
    const void *operand[HS_COMBINE_MOST] = {hs_device_address(instance, step->left),
                                            hs_device_address(instance, step->right)};
    char *dst = hs_device_address(instance, step->dst);
    int operands = 2, end = instance->head + HS_STEP_WINDOW, reaches = dst && operand[0] && operand[1];
    end = end < bound->list->steps ? end : bound->list->steps;
    hs_step_finish(instance, index);
    for (int i = index + 1; i < end && operands < HS_COMBINE_MOST; i++) {
        if (!goes_on(instance, step, i))
            continue;
        operand[operands] = hs_device_address(instance, all[i].right);
        reaches &= operand[operands++] != NULL;
        hs_step_finish(instance, i);
    }
    if (!reaches)
        return HSUMMA_ERR_INTERNAL;
    return hs_device_failed(on, on->device->kind->combine(on->device, *on->stream, dst, operand, operands,
                                                          step->count / (int64_t)hs_element_size(bound->element),
                                                          bound->element, bound->op));
}

static hsumma_status copy(struct hs_instance *instance, int index)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    const struct hs_device_copy way = {.to = hs_device_address(instance, step->dst),
                                       .from = hs_device_address(instance, step->left),
                                       .bytes = step->count};
    hs_step_finish(instance, index);
    return way.to && way.from ? hs_device_enqueue_copy(instance->bound.device, way) : HSUMMA_ERR_INTERNAL;
}

/* Records event i of the slot for a flag's value. *complete: 1 if peers can wait for it: the flag may be raised. */
static hsumma_status record(const struct hs_instance *instance, int i, int64_t value, int *complete)
{
    const struct hs_binding *bound = &instance->bound;
    hsumma_status status = hs_device_record(bound->device, slot_event(instance, bound->shm->me, i));
    *complete = bound->shm->share->shares_events;
    if (!status && *complete)
        atomic_store_explicit(&hs_shm_post(bound->shm, bound->instance, bound->shm->me)->recorded[i],
                              hs_shm_epoch(bound->instance, value), memory_order_release);
    return status;
}

static hsumma_status give_signal(struct hs_instance *instance, int index, int *worked)
{
    const struct hs_binding *bound = &instance->bound;
    int64_t value = bound->list->step[index].count;
    int complete = 0;
    hsumma_status status;
    if (instance->state[index] == HS_STEP_WAITING) {
        instance->signals++;
        instance->state[index] = HS_STEP_UNDER_WAY;
        *worked = 1;
        status = record(instance, instance->signals % HS_SLOT_SIGNALS, value, &complete);
    } else {
        status = hs_device_complete(
            bound->device, slot_event(instance, bound->shm->me, instance->signals % HS_SLOT_SIGNALS), &complete);
    }
    if (status || !complete)
        return status;
    *worked = 1;
    hs_shm_signal(bound->shm, bound->instance, value);
    hs_step_finish(instance, index);
    return HSUMMA_OK;
}

/* The member's event for the lowest value not below `value`. If it is re-recorded, it covers more operations. */
static struct hs_event *event_of(const struct hs_instance *instance, int member, int64_t value)
{
    const struct hs_binding *bound = &instance->bound;
    const struct hs_post *post = hs_shm_post(bound->shm, bound->instance, member);
    uint64_t wanted = hs_shm_epoch(bound->instance, value), least = UINT64_MAX;
    int found = HS_SLOT_SIGNALS;
    for (int i = 0; i < HS_SLOT_EVENTS; i++) {
        uint64_t beyond = atomic_load_explicit(&post->recorded[i], memory_order_acquire) - wanted;
        if ((int64_t)beyond >= 0 && beyond < least) {
            least = beyond;
            found = i;
        }
    }
    return slot_event(instance, member, found);
}

static hsumma_status await_signal(struct hs_instance *instance, int index, int *worked)
{
    const struct hs_binding *bound = &instance->bound;
    const struct hs_step *step = &bound->list->step[index];
    int member = hs_member_of(instance, step->peer);
    if (!hs_shm_signalled(bound->shm, bound->instance, member, step->count))
        return HSUMMA_OK; /* no check for failures: a rank that fails sends a notice */
    *worked = 1;
    hs_step_finish(instance, index);
    if (!bound->shm->share->shares_events || member == bound->shm->me)
        return HSUMMA_OK;
    return hs_device_wait(bound->device, event_of(instance, member, step->count));
}

hsumma_status hs_device_step(struct hs_instance *instance, int index, int *worked)
{
    switch (instance->bound.list->step[index].kind) {
    case HS_SEND:
    case HS_RECV:
        return instance->moved[index] < instance->bound.list->step[index].count
                   ? hs_bounce_begin(instance->bound.device, instance, index, worked)
                   : HSUMMA_OK;
    case HS_COPY:
        *worked = 1;
        return copy(instance, index);
    case HS_REDUCE:
        *worked = 1;
        return reduce(instance, index);
    case HS_SIGNAL:
        return give_signal(instance, index, worked);
    case HS_WAIT:
        return await_signal(instance, index, worked);
    case HS_JOIN:
        hs_step_finish(instance, index);
        return HSUMMA_OK;
    case HS_EXACT:
    case HS_MPI:
    case HS_KINDS:
        break;
    }
    return HSUMMA_ERR_INTERNAL;
}

/* Enqueues what follows the list: the copy of the result, the event that frees the slot, and that for `hold`. */
static hsumma_status put_end(struct hs_instance *instance)
{
    const struct hs_binding *bound = &instance->bound;
    struct hs_device_comm *on = bound->device;
    hsumma_status status = HSUMMA_OK;
    int complete;
    if (bound->io)
        status = hs_device_enqueue_copy(on, bound->io->after);
    if (!status && bound->shm)
        status = record(instance, HS_SLOT_SIGNALS, HS_SIGNAL_MAX, &complete);
    if (!status && bound->io && bound->io->hold)
        status = hs_device_record(on, bound->io->event);
    instance->ended = 1;
    return status;
}

hsumma_status hs_device_end(struct hs_instance *instance, int *complete)
{
    const struct hs_binding *bound = &instance->bound;
    hsumma_status status = instance->ended ? HSUMMA_OK : put_end(instance);
    *complete = !status;
    if (!status && bound->shm && !bound->shm->share->shares_events)
        status = hs_device_complete(bound->device, slot_event(instance, bound->shm->me, HS_SLOT_SIGNALS), complete);
    if (!status && *complete && bound->io && bound->io->hold)
        status = hs_device_complete(bound->device, bound->io->event, complete);
    if (status || !*complete)
        return status;
    struct hs_instance **link = &bound->device->first;
    while (*link && *link != instance)
        link = &(*link)->next;
    if (*link)
        *link = instance->next;
    return HSUMMA_OK;
}
