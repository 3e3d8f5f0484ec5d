#include "coll/team/call_device.h"

#include "coll/run/device_comm.h"

enum { RUNS, EARLY, OVER };

static enum hs_memory_kind kind_of(const struct hs_device_comm *on, const void *at)
{
    return at ? on->device->kind->classify(on->device, at) : HS_MEMORY_HOST;
}

int hs_call_is_on_device(const struct hs_device_comm *on, const struct hs_call *call)
{
    if (!on || call->bytes == 0)
        return 0;
    int in = call->has_in && !call->in_place; /* the kind of memory is that of the pointer, even for zero bytes */
    return (call->has_out && hs_memory_is_reachable(kind_of(on, call->out))) ||
           (in && hs_memory_is_reachable(kind_of(on, call->in)));
}

hsumma_status hs_device_call_get(struct hs_operation *operation, int64_t scratch)
{
    struct hs_device_comm *on = operation->signature->device;
    const struct hs_device_kind *kind = on->device->kind;
    hsumma_status status = kind->make_event(on->device, 0, &operation->io.event);
    if (status || scratch == 0)
        return status;
    if (operation->signature->on_host) {
        operation->scratch = hs_get(on->memory, (size_t)scratch, 1);
        return operation->scratch ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    return kind->get(on->device, (size_t)scratch, &operation->scratch);
}

static void put_copy(struct hs_operation *operation)
{
    struct hs_device_comm *on = operation->signature->device;
    if (operation->copy && operation->signature->on_host) {
        on->device->kind->synchronize(on->device, *on->stream);
        on->device->kind->put_pinned(on->device, operation->copy);
    } else {
        on->device->kind->put(on->device, operation->copy);
    }
    operation->copy = NULL;
    operation->copy_bytes = 0;
}

void hs_device_call_put(struct hs_operation *operation)
{
    struct hs_device_comm *on = operation->signature->device;
    put_copy(operation);
    if (!operation->signature->on_host) {
        on->device->kind->put(on->device, operation->scratch);
        operation->scratch = NULL;
    }
    on->device->kind->free_event(on->device, operation->io.event);
}

/* One of the caller's buffers. needs: true if it needs a staged copy; pool: true if such a copy belongs in the pool. */
struct buffer_part {
    char *at;
    int64_t bytes;
    int host; /* true if it is in host memory */
    int needs, pool;
};

static struct buffer_part part_of(const struct hs_signature *signature, enum hs_slot slot, char *at, int64_t bytes)
{
    const struct hs_device_comm *on = signature->device;
    struct buffer_part part = {.at = at, .bytes = bytes};
    size_t offset;
    if (bytes == 0)
        return part;
    part.host = !hs_memory_is_reachable(kind_of(on, at));
    part.pool = !signature->on_host && signature->list.exposed & 1u << slot;
    part.needs = part.host != signature->on_host;
    if (part.pool && !part.needs)
        part.needs = !hs_region_of(on->region, at, (size_t)bytes, &offset);
    return part;
}

static struct buffer_part in_part(const struct hs_signature *signature, const struct hs_call *call)
{
    char *at = call->in_place ? (char *)call->out + (call->out ? call->in_place_at : 0) : (char *)call->in;
    struct buffer_part part = part_of(signature, HS_IN, at, call->has_in ? call->in_bytes : 0);
    part.needs |= call->in_place && part.bytes;
    return part;
}

/* OUT of a rank whose caller has no out buffer is in SCRATCH, or in the pool if peers read it. */
static struct buffer_part out_part(const struct hs_signature *signature, const struct hs_call *call)
{
    if (call->has_out)
        return part_of(signature, HS_OUT, call->out, call->out_bytes);
    struct buffer_part part = {.bytes = call->collective == HS_REDUCE_TO ? signature->list.extent[HS_OUT] : 0};
    part.pool = part.needs = !signature->on_host && part.bytes && signature->list.exposed & 1u << HS_OUT;
    return part;
}

size_t hs_device_call_pool(const struct hs_signature *signature, const struct hs_call *call)
{
    unsigned exposed = signature->on_host ? 0 : signature->list.exposed;
    return (exposed & 1u << HS_IN && call->has_in ? hs_aligned((size_t)call->in_bytes) : 0) +
           (exposed & 1u << HS_OUT ? hs_aligned((size_t)call->out_bytes) : 0);
}

/* The address of a part's staged copy. at[]: bytes used so far of the operation's memory [0] and of the pool [1]. */
static char *stand(const struct hs_operation *operation, const struct buffer_part *part, size_t at[2])
{
    const struct hs_device_share *pool = &operation->signature->device->pool;
    char *base = part->pool ? pool->memory[pool->me] : operation->copy;
    char *place = base + at[part->pool];
    at[part->pool] += hs_aligned((size_t)part->bytes);
    return place;
}

hsumma_status hs_device_call_need(struct hs_operation *operation, const struct hs_call *call)
{
    const struct hs_signature *signature = operation->signature;
    const struct hs_device_comm *on = signature->device;
    const struct buffer_part part[2] = {in_part(signature, call), out_part(signature, call)};
    size_t bytes = 0;
    for (int i = 0; i < 2; i++)
        bytes += part[i].needs && !part[i].pool ? hs_aligned((size_t)part[i].bytes) : 0;
    if (bytes <= operation->copy_bytes)
        return HSUMMA_OK;
    put_copy(operation);
    hsumma_status status = signature->on_host ? on->device->kind->get_pinned(on->device, bytes, &operation->copy)
                                              : on->device->kind->get(on->device, bytes, &operation->copy);
    operation->copy_bytes = status ? 0 : bytes;
    return status;
}

static void bind(struct hs_operation *operation, const struct hs_call *call)
{
    struct hs_device_io *io = &operation->io;
    const struct hs_signature *signature = operation->signature;
    const struct buffer_part in = in_part(signature, call), out = out_part(signature, call);
    void **slot = operation->instance.bound.slot;
    size_t at[2] = {0, 0};
    int source = call->collective == HS_BCAST && call->is_root; /* sends from OUT, which is therefore copied first */
    *io = (struct hs_device_io){.event = io->event};
    slot[HS_IN] = in.needs ? stand(operation, &in, at) : in.at;
    if (in.needs)
        io->before[0] = (struct hs_device_copy){.to = slot[HS_IN], .from = in.at, .bytes = in.bytes};
    if (out.needs)
        slot[HS_OUT] = stand(operation, &out, at);
    if (out.needs && out.at && source)
        io->before[1] = (struct hs_device_copy){.to = slot[HS_OUT], .from = out.at, .bytes = out.bytes};
    else if (out.needs && out.at)
        io->after = (struct hs_device_copy){.to = out.at, .from = slot[HS_OUT], .bytes = out.bytes};
    io->pool = at[1] > 0;
    io->hold = !signature->on_host && (in.host || out.host);
}

hsumma_status hs_device_call_start(struct hs_operation *operation, const struct hs_call *call, struct hs_comm *comm)
{
    struct hs_device_comm *on = operation->signature->device;
    struct hs_binding *binding = &operation->instance.bound;
    bind(operation, call);
    operation->phase = RUNS;
    if (!operation->signature->on_host) {
        binding->device = on;
        binding->io = &operation->io;
        binding->element = call->op.element;
        binding->op = call->op.op;
        return hs_start(&operation->instance, comm, binding);
    }
    hsumma_status status = hs_device_enqueue_copy(on, operation->io.before[0]);
    if (!status)
        status = hs_device_enqueue_copy(on, operation->io.before[1]);
    /* The event is needed even if nothing is copied, because operations of an earlier call may still use the memory. */
    if (!status)
        status = hs_device_record(on, operation->io.event);
    operation->phase = EARLY;
    return status;
}

hsumma_status hs_operation_progress(struct hs_operation *operation, struct hs_comm *comm, int *worked)
{
    struct hs_device_comm *on = operation->signature->device;
    int complete = 0;
    hsumma_status status = HSUMMA_OK;
    if (!operation->signature->on_host)
        return hs_progress(&operation->instance, worked);
    if (operation->phase == EARLY) {
        status = hs_device_complete(on, operation->io.event, &complete);
        if (status || !complete)
            return status;
        operation->phase = RUNS;
        *worked = 1;
        status = hs_start(&operation->instance, comm, &operation->instance.bound);
    } else {
        status = hs_progress(&operation->instance, worked);
    }
    if (status || operation->instance.active || operation->phase == OVER)
        return status;
    operation->phase = OVER;
    return hs_device_enqueue_copy(on, operation->io.after);
}

int hs_operation_is_active(const struct hs_operation *operation)
{
    return operation->signature->on_host ? operation->phase != OVER : operation->instance.active;
}

int hs_operation_is_early(const struct hs_operation *operation)
{
    return operation->phase == EARLY;
}
