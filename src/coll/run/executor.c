#include "base/operators.h"
#include "coll/run/executor_device.h"
#include "coll/run/executor_parts.h"

#include <string.h>

/* Lays out the arrays of an instance in `memory`; only computes their total size if memory is NULL. */
static size_t lay_out(struct hs_instance *instance, char *memory, int steps)
{
    const size_t all = (size_t)(steps > 0 ? steps : 1), open = all < HS_STEP_WINDOW ? all : HS_STEP_WINDOW;
    const size_t requests = 2 * open; /* messages in flight belong to steps of one window; a CRC is one of its own */
    struct hs_arena arena = {memory, 0};
    instance->moved = hs_arena_take(&arena, all * sizeof *instance->moved);
    instance->traced = hs_arena_take(&arena, requests * sizeof *instance->traced);
    instance->open.request = hs_arena_take(&arena, requests * sizeof *instance->open.request);
    instance->crc = hs_arena_take(&arena, open * sizeof *instance->crc);
    instance->request_step = hs_arena_take(&arena, requests * sizeof *instance->request_step);
    instance->completed = hs_arena_take(&arena, requests * sizeof *instance->completed);
    instance->state = hs_arena_take(&arena, all * sizeof *instance->state);
    instance->pending = hs_arena_take(&arena, open * sizeof *instance->pending);
    return arena.used;
}

size_t hs_instance_bytes(int steps)
{
    struct hs_instance none;
    return lay_out(&none, NULL, steps);
}

void hs_instance_init(struct hs_instance *instance, void *memory, int steps)
{
    memset(instance, 0, sizeof *instance);
    lay_out(instance, memory, steps);
    instance->capacity = steps;
}

char *hs_address(const struct hs_instance *instance, struct hs_ref ref)
{
    const struct hs_binding *bound = &instance->bound;
    if (ref.slot == HS_SLOTS)
        return NULL;
    if (ref.slot == HS_SHARED)
        return hs_shm_shared(bound->shm, bound->instance, bound->ring,
                             ref.of ? hs_member_of(instance, ref.of - 1) : bound->shm->me) +
               ref.at;
    return ref.of ? NULL : (char *)bound->slot[ref.slot] + ref.at;
}

static hsumma_status read_peer(const struct hs_instance *instance, struct hs_ref ref, int64_t at, void *to,
                               int64_t bytes)
{
    return hs_shm_read(instance->bound.shm, instance->bound.instance, hs_member_of(instance, ref.of - 1),
                       ref.slot == HS_OUT, ref.at + at, to, bytes);
}

/* A REDUCE with operands in a peer's IN or OUT: copies pieces into a buffer that stays in the cache, half for each. */
static hsumma_status reduce_pieces(const struct hs_instance *instance, const struct hs_step *step)
{
    const struct hs_binding *bound = &instance->bound;
    int64_t unit = bound->unit ? bound->unit : 16, piece = HS_BOUNCE / 2 / unit * unit;
    const struct hs_ref ref[2] = {step->left, step->right};
    char *dst = hs_address(instance, step->dst);
    if (piece == 0)
        return HSUMMA_ERR_UNSUPPORTED;
    for (int64_t at = 0; at < step->count; at += piece) {
        int64_t count = step->count - at < piece ? step->count - at : piece;
        char *operand[2];
        for (int i = 0; i < 2; i++) {
            char *here = hs_address(instance, ref[i]);
            operand[i] = here ? here + at : (char *)bound->shm->bounce + i * (HS_BOUNCE / 2);
            hsumma_status status = here ? HSUMMA_OK : read_peer(instance, ref[i], at, operand[i], count);
            if (status)
                return status;
        }
        bound->combine(dst + at, operand[0], operand[1], count, bound->state);
    }
    return HSUMMA_OK;
}

/* Charges a step to the clock of a simulated run, as model/clock.h prices it. Returns 0 if data have no contents. */
static int charge(const struct hs_compute *compute, const struct hs_step *step)
{
    if (step->kind == HS_EXACT)
        return hs_compute_bytes(compute, HS_WORK_SUM, HS_EXACT_WORK * step->peer * step->count);
    if (step->kind == HS_REDUCE) {
        hs_compute_bytes(compute, HS_WORK_READ, hs_is_peers_own(step->left) ? step->count : 0);
        hs_compute_bytes(compute, HS_WORK_READ, hs_is_peers_own(step->right) ? step->count : 0);
        return hs_compute_bytes(compute, HS_WORK_SUM, step->count);
    }
    int reads = hs_is_peers_own(step->left) &&
                (compute->price[HS_WORK_READ].start > 0 || compute->price[HS_WORK_READ].byte > 0);
    enum hs_work copy = reads ? HS_WORK_READ : hs_copies_shared(step) ? HS_WORK_SHARED_COPY : HS_WORK_COPY;
    return hs_compute_bytes(compute, copy, step->count);
}

/* Executes a COPY, REDUCE or EXACT. */
static hsumma_status copy_or_add(const struct hs_instance *instance, const struct hs_step *step)
{
    if (instance->bound.compute && !charge(instance->bound.compute, step))
        return HSUMMA_OK;
    char *dst = hs_address(instance, step->dst), *left = hs_address(instance, step->left);
    if (step->kind == HS_EXACT) {
        const hsumma_operator *by = instance->bound.operation;
        return by && !hs_reduce_exactly(by->element, by->op, dst, left, step->peer, step->count)
                   ? HSUMMA_OK
                   : HSUMMA_ERR_UNSUPPORTED;
    }
    if (step->kind == HS_COPY && !left)
        return read_peer(instance, step->left, 0, dst, step->count);
    if (step->kind == HS_COPY) {
        memcpy(dst, left, (size_t)step->count);
        return HSUMMA_OK;
    }
    char *right = hs_address(instance, step->right);
    if (!left || !right)
        return reduce_pieces(instance, step);
    instance->bound.combine(dst, left, right, step->count, instance->bound.state);
    return HSUMMA_OK;
}

static hsumma_status compute(const struct hs_instance *instance, const struct hs_step *step)
{
    struct hs_trace *trace = instance->comm->trace;
    if (!hs_trace_records(trace)) /* filling in an entry takes as long as a short copy */
        return copy_or_add(instance, step);
    double begin = hs_trace_now(trace);
    hsumma_status status = copy_or_add(instance, step);
    hs_trace_work(trace, (struct hs_trace_entry){.begin = begin,
                                                 .end = hs_trace_now(trace),
                                                 .amount = step->count,
                                                 .peer = -1,
                                                 .tag = instance->bound.tag,
                                                 .panel = -1,
                                                 .kind = step->kind == HS_COPY ? HS_TRACE_COPY : HS_TRACE_SUM,
                                                 .operand = -1});
    return status;
}

/*
 * The peers to which, or from which, an earlier message has not been posted completely; later ones must wait, because
 * messages of a peer and direction are posted in list order.
 */
struct held {
    int peer[HS_STEP_WINDOW], count;
};

/* The kinds of steps that are posted in list order, among themselves: messages out and in (by peer), and MPI steps. */
enum { HELD_OUT, HELD_IN, HELD_MPI, HELD_KINDS };

static int is_held(const struct held *held, int peer)
{
    for (int i = 0; i < held->count; i++)
        if (held->peer[i] == peer)
            return 1;
    return 0;
}

/* Begins a step in host memory. Local steps complete immediately, except a WAIT for a flag that is not yet raised. */
static hsumma_status host_step(struct hs_instance *instance, int index, int *worked)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    hsumma_status status = HSUMMA_OK;
    if (step->kind == HS_SEND || step->kind == HS_RECV || step->kind == HS_MPI) {
        *worked = 1;
        return hs_post_step(instance, index);
    }
    if (step->kind == HS_COPY || step->kind == HS_REDUCE || step->kind == HS_EXACT)
        status = compute(instance, step);
    else if (step->kind == HS_SIGNAL)
        hs_shm_signal(instance->bound.shm, instance->bound.instance, step->count);
    else if (step->kind == HS_WAIT && !hs_shm_signalled(instance->bound.shm, instance->bound.instance,
                                                        hs_member_of(instance, step->peer), step->count))
        return hs_shm_broken(instance->bound.shm, hs_member_of(instance, step->peer));
    *worked = 1;
    hs_step_finish(instance, index);
    return status;
}

/* Begins a step if it may begin; on a device also continues one that has begun. */
static hsumma_status try_step(struct hs_instance *instance, int index, struct held *held, int *worked)
{
    const struct hs_step *step = &instance->bound.list->step[index];
    int mpi = step->kind == HS_MPI, message = step->kind == HS_SEND || step->kind == HS_RECV || mpi;
    int begun = instance->state[index] == HS_STEP_UNDER_WAY;
    struct held *mine = &held[mpi ? HELD_MPI : step->kind == HS_RECV ? HELD_IN : HELD_OUT];
    hsumma_status status = HSUMMA_OK;
    if (begun || (hs_deps_done(instance, step) && !(message && (mpi ? mine->count : is_held(mine, step->peer))))) {
        if (instance->bound.device)
            status = hs_device_step(instance, index, worked);
        else if (!begun)
            status = host_step(instance, index, worked);
    }
    if (message && instance->moved[index] < step->count) /* further pieces must be posted */
        mine->peer[mine->count++] = step->peer;
    return status;
}

static hsumma_status begin_steps(struct hs_instance *instance, int *worked)
{
    const unsigned char *state = instance->state;
    int steps = instance->bound.list->steps;
    while (instance->head < steps && state[instance->head] == HS_STEP_DONE)
        instance->head++;
    struct held held[HELD_KINDS];
    held[HELD_OUT].count = held[HELD_IN].count = held[HELD_MPI].count = 0;
    int end = instance->head + HS_STEP_WINDOW < steps ? instance->head + HS_STEP_WINDOW : steps;
    for (int i = instance->head; i < end; i++) {
        if (state[i] == HS_STEP_DONE)
            continue;
        hsumma_status status = try_step(instance, i, held, worked);
        if (status)
            return status;
    }
    return HSUMMA_OK;
}

/* Enters the instance's slot of the shared memory if the slot is free. */
static hsumma_status enter(struct hs_instance *instance)
{
    const struct hs_binding *bound = &instance->bound;
    if (bound->shm && !hs_shm_free(bound->shm, bound->instance, bound->ring)) {
        hsumma_status status = HSUMMA_OK;
        for (int m = 0; m < bound->shm->members && !bound->device && !status; m++)
            status = hs_shm_broken(bound->shm, m);
        return status;
    }
    if (bound->device)
        return hs_device_enter(instance, &instance->entered);
    if (bound->list->exposed)
        hs_shm_publish(bound->shm, bound->instance, bound->slot[HS_IN], bound->slot[HS_OUT]);
    instance->entered = 1;
    return HSUMMA_OK;
}

hsumma_status hs_comm_wait(struct hs_comm *comm, hs_advance *advance, void *state)
{
    if (!comm)
        return hs_wait_idle(advance, state, hs_idle_yield, NULL, NULL);
    if (comm->block)
        return hs_wait_idle(advance, state, hs_block_idle, comm->block, comm->watch);
    return hs_wait_idle(advance, state, hs_idle_yield, &comm->crowded, comm->watch);
}

hsumma_status hs_start(struct hs_instance *instance, struct hs_comm *comm, const struct hs_binding *binding)
{
    int steps = binding->list->steps;
    if (steps > instance->capacity || instance->active)
        return HSUMMA_ERR_INTERNAL;
    if (binding != &instance->bound)
        instance->bound = *binding;
    instance->comm = comm;
    instance->head = instance->open.count = instance->open.collected = 0;
    instance->open.polls = binding->by_function;
    instance->left = steps;
    instance->active = steps > 0 || binding->shm || binding->io;
    instance->entered = 0;
    memset(instance->state, HS_STEP_WAITING, (size_t)steps);
    memset(instance->moved, 0, (size_t)steps * sizeof *instance->moved);
    if (binding->device && instance->active)
        hs_device_begin(instance);
    if (comm->block && instance->active)
        hs_block_add(comm->block, &instance->open);
    int worked = 0;
    return hs_progress(instance, &worked);
}

hsumma_status hs_progress(struct hs_instance *instance, int *worked)
{
    if (!instance->active)
        return HSUMMA_OK;
    hsumma_status status = instance->entered ? HSUMMA_OK : enter(instance);
    if (!status && !instance->entered)
        return HSUMMA_OK;
    int complete = 0, on_device = instance->bound.device != NULL;
    if (!status)
        status = on_device ? hs_bounce_progress(instance->bound.device, worked) : hs_collect_messages(instance, worked);
    if (!status)
        status = begin_steps(instance, worked);
    if (!status && instance->left == 0 && on_device)
        status = hs_device_end(instance, &complete);
    if (status && instance->bound.shm)
        hs_shm_break(instance->bound.shm, status);
    if (!status && instance->left == 0 && (complete || !on_device)) {
        instance->active = 0;
        if (instance->comm->block)
            hs_block_remove(instance->comm->block, &instance->open);
        if (instance->bound.shm)
            hs_shm_finish(instance->bound.shm, instance->bound.instance);
    }
    return status;
}

int hs_instance_awaits(const struct hs_instance *instance, int *receives)
{
    int at = instance->head;
    *receives = 0;
    if (!instance->active)
        return -1;
    while (at < instance->bound.list->steps && instance->state[at] == HS_STEP_DONE)
        at++;
    if (at == instance->bound.list->steps)
        return -1;
    const struct hs_step *step = &instance->bound.list->step[at];
    *receives = step->kind == HS_RECV || step->kind == HS_WAIT;
    return *receives || step->kind == HS_SEND ? hs_rank_of(instance, step->peer) : -1;
}
