#include "coll/team/parts.h"

#include "coll/node/agree_mpi.h"
#include "coll/run/device_comm.h"
#include "coll/run/notice.h"
#include "coll/team/call_device.h"

#include <stdio.h>
#include <string.h>

/* Numbers of calls in progress differ by less than this, those of calls with the same tag by more. */
enum { APART = HS_INSTANCES / 2 };
/* Polls without progress before a rank looks for other work, and between looks for notices, which call MPI. */
enum { VAIN = 64, BETWEEN_LISTENS = 16 };

hsumma_status hs_team_init(struct hs_team *team, struct hs_comm *comm, const struct hs_group *group,
                           const struct hs_allocator *memory)
{
    *team = (struct hs_team){.comm = comm, .memory = memory, .group = *group};
    team->selector.memory = memory;
    return hs_agreement_init(&team->agreement, comm, group, NULL, HS_AGREE_TEAM, memory);
}

void hs_team_leave_mpi(struct hs_team *team)
{
    for (struct hs_joined *joined = team->joined; joined && !team->broken; joined = joined->next)
        MPI_Comm_free(&joined->comm);
}

void hs_team_free(struct hs_team *team)
{
    if (!team->memory || team->broken)
        return;
    while (team->signature) {
        struct hs_signature *signature = team->signature;
        team->signature = signature->next;
        hs_signature_drop(signature, team->memory);
    }
    while (team->joined) {
        struct hs_joined *joined = team->joined;
        team->joined = joined->next;
        hs_put(team->memory, joined);
    }
    hs_selector_free(&team->selector);
    hs_agreement_free(&team->agreement, team->memory);
}

static void end(struct hs_team *team, hsumma_status status)
{
    team->broken = 1;
    team->status = status;
    for (struct hs_operation *operation = team->first; operation; operation = operation->next) {
        *operation->ticket = (struct hs_ticket){.done = 1, .status = status};
        hs_keep(operation); /* MPI may still write to it */
    }
    team->first = team->last = NULL;
}

void hs_team_fail(struct hs_team *team, hsumma_status status)
{
    const struct hs_device_comm *on = team->comm->device;
    int by_function = team->comm->failure.text[0] != 0;
    if (team->broken)
        return;
    if (by_function || on)
        team->failure = by_function ? team->comm->failure : on->failure;
    else if (hs_status_is_final(status))
        hs_fail(&team->failure, status, "%s", hs_roster_why(&team->comm->roster, status));
    end(team, status);
    if (by_function || (on && !hs_status_is_final(status)))
        hs_notice_send(team->comm, &team->group, (struct hs_notice){.status = status, .text = team->failure},
                       team->memory);
}

void hs_team_give_up(struct hs_team *team, hsumma_status status, const char *why)
{
    hs_team_fail(team, status);
    hs_fail(&team->failure, status, "%s", why);
}

void hs_team_listen(struct hs_team *team)
{
    struct hs_notice notice;
    if (!hs_notice_receive(team->comm, &notice) || team->broken)
        return;
    team->failure = notice.text;
    end(team, notice.status);
}

/* Advances all calls in progress. */
static void progress(struct hs_team *team, int *worked)
{
    struct hs_operation **link = &team->first, *before = NULL;
    while (*link) {
        struct hs_operation *operation = *link;
        hsumma_status status = hs_operation_progress(operation, team->comm, worked);
        if (status) {
            hs_team_fail(team, status);
            return;
        }
        if (hs_operation_is_active(operation)) {
            before = operation;
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        if (team->last == operation)
            team->last = before;
        operation->ticket->done = 1;
        hs_trace_close(team->comm->trace, operation->traced);
        hs_operation_give(operation, team->memory);
        *worked = 1;
    }
}

void hs_team_poll(struct hs_team *team, int *worked)
{
    int moved = 0;
    progress(team, &moved);
    team->idle = moved ? 0 : team->idle + 1;
    if (team->idle > (team->comm->block ? 0 : VAIN)) { /* a rank that blocks checks all other work before */
        if (team->comm->block || team->idle > VAIN + BETWEEN_LISTENS) {
            hs_team_listen(team);
            team->idle = VAIN;
        }
        if (team->drive)
            team->drive(team->driven, &moved);
    }
    *worked |= moved;
}

/* True if an MPI step of some call may not have started: the call has several steps, or its data are being copied. */
static int pieces_under_way(const struct hs_team *team)
{
    for (const struct hs_operation *operation = team->first; operation; operation = operation->next)
        if (operation->signature->list.joints &&
            (operation->signature->list.steps > 1 || hs_operation_is_early(operation)))
            return 1;
    return 0;
}

static int passed(const struct hs_team_waiting *waiting)
{
    const struct hs_team *team = waiting->team;
    return (!team->first || team->first->number > waiting->number) && !(waiting->native && pieces_under_way(team));
}

/* Records in the timeline that this rank waits for the oldest call. */
static void trace_wait(const struct hs_team *team)
{
    int receives, peer = hs_instance_awaits(&team->first->instance, &receives);
    hs_trace_await(team->comm->trace, team,
                   (struct hs_trace_entry){
                       .cause = receives ? HS_CAUSE_CALL : HS_CAUSE_SENT, .peer = peer, .panel = -1, .operand = -1});
}

hsumma_status hs_team_advance(void *state, int *worked, int *done)
{
    struct hs_team_waiting *waiting = state;
    struct hs_team *team = waiting->team;
    hsumma_status status = HSUMMA_OK;
    int moved = 0;
    if (team->comm)
        hs_team_poll(team, &moved);
    *worked |= moved;
    if (waiting->ticket)
        *done = waiting->ticket->done;
    else if (!waiting->request)
        *done = passed(waiting);
    else
        status = hs_mpi_status(MPI_Test(waiting->request, done, MPI_STATUS_IGNORE));
    if (status)
        return status;
    if (*done && team->comm)
        hs_trace_resume(team->comm->trace);
    else if (!moved && team->first && hs_trace_notes(team->comm->trace))
        trace_wait(team);
    return team->broken && !*done ? team->status : HSUMMA_OK;
}

hsumma_status hs_team_drain(struct hs_team *team)
{
    struct hs_team_waiting all = {.team = team, .number = team->number - 1};
    return hs_comm_wait(team->comm, hs_team_advance, &all);
}

hsumma_status hs_team_wait(struct hs_team *team, struct hs_ticket *ticket)
{
    struct hs_team_waiting waiting = {.team = team, .ticket = ticket};
    hsumma_status status = hs_comm_wait(team->comm, hs_team_advance, &waiting);
    return status ? status : ticket->status;
}

void hs_team_test(struct hs_team *team, struct hs_ticket *ticket)
{
    struct hs_team_waiting waiting = {.team = team, .ticket = ticket};
    int worked = 0, done = 0;
    hs_team_advance(&waiting, &worked, &done); /* an error is also in the ticket */
}

hsumma_status hs_team_await(struct hs_team *team, MPI_Request *request)
{
    struct hs_team_waiting waiting = {.team = team, .request = request};
    struct hs_block *block = team->comm ? team->comm->block : NULL;
    if (block)
        block->other = request;
    hsumma_status status = hs_comm_wait(team->comm, hs_team_advance, &waiting);
    if (block)
        block->other = NULL;
    return status;
}

/*
 * Sets *operation to a free operation of the signature. If there is no memory for another one, waits until the calls in
 * progress are complete; fails with HSUMMA_ERR_MEMORY if none of them has such an operation, or with the wait's error.
 */
static hsumma_status take(struct hs_team *team, struct hs_signature *signature, struct hs_operation **operation)
{
    *operation = hs_operation_take(signature, team->memory);
    if (*operation || signature->under_way == 0)
        return *operation ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    hsumma_status status = hs_team_drain(team);
    if (!status)
        status = team->broken ? team->status : HSUMMA_OK;
    if (!status)
        *operation = hs_operation_take(signature, team->memory);
    return status ? status : *operation ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

/* Sets all fields of the binding: clearing the struct first takes a tenth of the time of a short call. */
static struct hs_binding *bind(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call)
{
    const struct hs_signature *signature = operation->signature;
    struct hs_binding *binding = &operation->instance.bound;
    char *scratch = operation->scratch;
    operation->op = call->op;
    binding->list = &signature->list;
    binding->group = team->group;
    binding->rotation = signature->rotation;
    binding->tag = hs_tag(HS_CHANNEL_COLL, operation->number);
    binding->slot[HS_IN] = call->in_place ? operation->copy : (void *)call->in; /* only read, so the cast is safe */
    binding->slot[HS_OUT] = call->out;
    binding->slot[HS_SCRATCH] = scratch;
    binding->slot[HS_SHARED] = NULL;
    if (!call->has_out && scratch)
        binding->slot[HS_OUT] = scratch + hs_aligned((size_t)signature->list.extent[HS_SCRATCH]);
    binding->combine = call->reduces ? hs_call_operator(&operation->op) : NULL;
    binding->state = &operation->op;
    binding->unit = call->unit;
    binding->compute = team->compute;
    binding->shm = NULL;
    struct hs_shm *shm = signature->device && !signature->on_host ? signature->device->shm : team->comm->shm;
    if (hs_alg_may_share(signature->chosen.alg) && shm) {
        binding->shm = shm;
        binding->instance = shm->next++;
    }
    binding->ring = signature->ring;
    binding->checked = 0;
    binding->native = signature->native;
    binding->operation = &operation->op;
    binding->by_function = hs_alg_spec_by_function(&signature->chosen);
    binding->device = NULL;
    binding->io = NULL;
    return binding;
}

/* Adds a call to the timeline; returns the entry's number. */
static int64_t trace_call(struct hs_trace *trace, const struct hs_call *call, int tag)
{
    if (!hs_trace_records(trace))
        return HS_TRACE_CLOSED;
    return hs_trace_add(trace, (struct hs_trace_entry){.begin = hs_trace_now(trace),
                                                       .amount = call->in_bytes,
                                                       .peer = -1,
                                                       .tag = tag,
                                                       .panel = -1,
                                                       .kind = HS_TRACE_CALL,
                                                       .operand = (int8_t)call->collective});
}

static hsumma_status begin(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                           struct hs_ticket *ticket, struct hs_message *message)
{
    if (call->in_place && call->in_bytes > 0 && !operation->signature->device)
        memcpy(operation->copy, (const char *)call->out + call->in_place_at, (size_t)call->in_bytes);
    operation->number = team->number++;
    *ticket = (struct hs_ticket){.done = 0};
    operation->ticket = ticket;
    operation->next = NULL;
    if (team->last)
        team->last->next = operation;
    else
        team->first = operation;
    team->last = operation;
    struct hs_binding *binding = bind(team, operation, call);
    operation->traced = trace_call(team->comm->trace, call, binding->tag);
    hsumma_status status = operation->signature->device ? hs_device_call_start(operation, call, team->comm)
                                                        : hs_start(&operation->instance, team->comm, binding);
    if (status) {
        hs_team_fail(team, status);
        return hs_fail(message, status, "a collective call could not be started: %.400s",
                       team->failure.text[0] ? team->failure.text : hsumma_status_string(status));
    }
    int worked = 0;
    if (!hs_operation_is_active(operation))
        progress(team, &worked);
    return HSUMMA_OK;
}

/*
 * Allocates memory for copies of the caller's buffers. On devices, if memory is exhausted, waits for the calls in
 * progress, which may free some. If that does not help, makes the team fail, which informs the other ranks, since they
 * may have started the call.
 */
static hsumma_status need_staging(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                                  struct hs_message *message)
{
    hsumma_status status = hs_team_need_copy(team, operation, call, message);
    if (!status || !call->on_device)
        return status;
    if (team->first && !hs_team_drain(team))
        status = hs_team_need_copy(team, operation, call, message);
    struct hs_message *failure = &team->comm->device->failure;
    if (status && !failure->text[0])
        hs_fail(failure, status, "process %d: %.400s", team->comm->rank, message->text);
    if (status)
        hs_team_fail(team, status);
    return status;
}

hsumma_status hs_team_start(struct hs_team *team, struct hs_call *call, hsumma_status mine, int about,
                            struct hs_ticket *ticket, struct hs_message *message)
{
    hsumma_status status = team->comm->device ? hs_device_ask(team->comm->device) : HSUMMA_OK;
    if (status) {
        hs_team_fail(team, status);
        return hs_fail(message, status, "%s", team->failure.text);
    }
    call->on_device = !mine && hs_call_is_on_device(team->comm->device, call);
    struct hs_signature *signature = mine ? NULL : hs_team_find(team, call);
    if (!mine)
        mine = hs_call_check_pointers(call, team->group.me, &about, message);
    if (!mine && !ticket) {
        about = HS_CALL_MEMORY;
        mine = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the request of hsumma_coll_start");
    }
    status = mine;
    if (!signature || team->check_always || (!mine && hs_team_must_measure(team, call)))
        status = hs_team_prepare(team, call, &signature, mine, about, message);
    if (!status)
        hs_team_use(team, signature);
    struct hs_team_waiting waiting = {.team = team, .number = team->number - APART};
    if (!status) /* MPI matches collectives, and pieces of them, by the order in which they start */
        waiting.native = signature->list.joints > 0;
    struct hs_operation *operation = NULL;
    hsumma_status ready = HSUMMA_OK;
    if (!status && !passed(&waiting))
        ready = hs_comm_wait(team->comm, hs_team_advance, &waiting);
    if (!status && !ready && team->broken) /* what it has waited for has ended without being complete */
        ready = team->status;
    if (!status && !ready)
        ready = take(team, signature, &operation);
    if (ready == HSUMMA_ERR_MEMORY && !team->broken)
        status = hs_fail(message, ready, "no memory for another collective call");
    else if (ready)
        status = hs_fail(message, ready, "an earlier collective call failed: %.400s",
                         team->failure.text[0] ? team->failure.text : hsumma_status_string(ready));
    if (!status)
        status = need_staging(team, operation, call, message);
    if (!status)
        return begin(team, operation, call, ticket, message);
    if (operation)
        hs_operation_give(operation, team->memory);
    return status;
}

hsumma_status hs_team_describe(struct hs_team *team, const struct hs_call *call, char *text, size_t size,
                               struct hs_message *message)
{
    struct hs_signature_maker made = hs_team_maker(team);
    struct hs_call mine = *call;
    struct hs_chosen chosen;
    mine.on_device = hs_call_is_on_device(team->comm->device, call);
    hsumma_status status = hs_signature_choose(&made, &mine, &chosen, message);
    if (status)
        return status;
    hs_answer_write(&chosen.question, &chosen.answer, text, size);
    size_t used = strlen(text);
    if (chosen.why_host)
        snprintf(text + used, size - used, "; staged in host memory: %s", chosen.why_host);
    else if (mine.on_device)
        snprintf(text + used, size - used, "; in device memory");
    const struct hs_device_comm *on = mine.on_device && !chosen.why_host ? team->comm->device : NULL;
    used = strlen(text);
    if (on && on->topology.shared_bytes < on->limit && hs_alg_may_share(chosen.answer.spec.alg))
        snprintf(text + used, size - used, ", with shared buffers of at most %lld bytes: no memory for longer ones",
                 (long long)on->topology.shared_bytes);
    return HSUMMA_OK;
}
