/* layers: uses MPI.  To duplicate a communicator for MPI's own collectives. */
#include "coll/team.h"

#include "base/hash.h"
#include "base/wait.h"
#include "coll/call_device.h"
#include "coll/device_comm.h"

#include <stdio.h>
#include <string.h>

enum { SIGNATURES = 128, CACHE_BYTES = 64 << 20 }; /* kept; the most recently used one always */
enum { APART = HS_INSTANCES / 2 };                 /* calls that share a tag are further apart than any under way */
enum { VAIN = 64 };

hsumma_status hs_team_init(struct hs_team *team, struct hs_comm *comm, const struct hs_group *group,
                           const struct hs_allocator *memory)
{
    *team = (struct hs_team){.comm = comm, .memory = memory, .group = *group, .native = MPI_COMM_NULL};
    team->selector.memory = memory;
    return hs_agreement_init(&team->agreement, comm, group, HS_AGREE_TEAM, memory);
}

void hs_team_leave_mpi(struct hs_team *team)
{
    if (team->memory && team->native != MPI_COMM_NULL && !team->broken)
        MPI_Comm_free(&team->native);
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
    hs_selector_free(&team->selector);
    hs_agreement_free(&team->agreement, team->memory);
}

static const struct hs_topology *places(const struct hs_team *team)
{
    return team->comm->topology.size == team->group.size ? &team->comm->topology : NULL;
}

static struct hs_signature_maker maker(struct hs_team *team)
{
    return (struct hs_signature_maker){.memory = team->memory,
                                       .selector = &team->selector,
                                       .topology = places(team),
                                       .device = team->comm->device,
                                       .rank = team->group.me,
                                       .size = team->group.size,
                                       .segment = team->segment};
}

/* Whatever is under way ends with the error. */
static void fail_all(struct hs_team *team, hsumma_status status)
{
    team->broken = 1;
    for (struct hs_operation *operation = team->first; operation; operation = operation->next) {
        operation->ticket->done = 1;
        operation->ticket->status = status;
    }
    team->first = team->last = NULL; /* their memory is left to the end of the process: MPI may write to it */
}

static int is_active(const struct hs_operation *operation)
{
    return operation->signature->device ? hs_device_call_is_active(operation) : operation->instance.active;
}

/* Moves everything that is under way. */
static void progress(struct hs_team *team, int *worked)
{
    struct hs_operation **link = &team->first, *before = NULL;
    while (*link) {
        struct hs_operation *operation = *link;
        int on_device = operation->signature->device != NULL;
        hsumma_status status = on_device ? hs_device_call_progress(operation, team->comm, worked)
                                         : hs_progress(&operation->instance, worked);
        if (status) {
            fail_all(team, status);
            return;
        }
        if (is_active(operation)) {
            before = operation;
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        if (team->last == operation)
            team->last = before;
        operation->ticket->done = 1;
        hs_operation_give(operation, team->memory);
        *worked = 1;
    }
}

void hs_team_poll(struct hs_team *team, int *worked)
{
    int moved = 0;
    progress(team, &moved);
    team->idle = moved ? 0 : team->idle + 1;
    if (team->idle > VAIN) {
        int there; /* of no interest: what waits in shared memory must let MPI move the caller's own messages */
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, team->comm->comm, &there, MPI_STATUS_IGNORE);
        if (team->drive)
            team->drive(team->driven, &moved);
        team->idle = VAIN + 1;
    }
    *worked |= moved;
}

struct waiting {
    struct hs_team *team;
    struct hs_ticket *ticket;           /* done, or ... */
    const struct hs_signature *reserve; /* ... memory is back in its reserve, or ... */
    MPI_Request *request;               /* ... MPI has completed it, or ... */
    int64_t number;                     /* ... nothing up to this number is under way and ... */
    int native;                         /* ... no collective of MPI's that is done in several pieces, or ... */
    int pool;                           /* ... nothing of devices is under way */
};

static int pieces_under_way(const struct hs_team *team)
{
    for (const struct hs_operation *operation = team->first; operation; operation = operation->next)
        if (operation->signature->chosen.alg->flags & HS_BY_MPI &&
            (operation->signature->list.steps > 1 || hs_device_call_is_early(operation)))
            return 1;
    return 0;
}

static int passed(const struct waiting *waiting)
{
    const struct hs_team *team = waiting->team;
    return (!team->first || team->first->number > waiting->number) && !(waiting->native && pieces_under_way(team));
}

static hsumma_status advance(void *state, int *worked, int *done)
{
    struct waiting *waiting = state;
    struct hs_team *team = waiting->team;
    hs_team_poll(team, worked);
    if (waiting->ticket)
        *done = waiting->ticket->done;
    else if (waiting->reserve)
        *done = waiting->reserve->spare != NULL || waiting->reserve->under_way == 0;
    else if (waiting->pool)
        *done = team->comm->device->first == NULL;
    else if (waiting->request)
        return MPI_Test(waiting->request, done, MPI_STATUS_IGNORE) == MPI_SUCCESS ? HSUMMA_OK : HSUMMA_ERR_MPI;
    else
        *done = passed(waiting);
    return team->broken && !*done ? HSUMMA_ERR_MPI : HSUMMA_OK;
}

hsumma_status hs_team_wait(struct hs_team *team, struct hs_ticket *ticket)
{
    struct waiting waiting = {.team = team, .ticket = ticket};
    hsumma_status status = hs_wait(advance, &waiting);
    return status ? status : ticket->status;
}

/* Of what all ranks must have been told, and have chosen, alike. */
static int64_t hash_of(const struct hs_team *team, const struct hs_call *call, const struct hs_signature *signature)
{
    char word[HS_WORD_TEXT];
    hs_word_write(&signature->chosen, word, sizeof word);
    int user = call->op.op == HSUMMA_USER; /* then there is no element; else nothing is said about order */
    const int64_t field[] = {call->collective,     call->root,
                             call->unit,           call->bytes,
                             call->op.op,          user ? 0 : call->op.element,
                             call->counts != NULL, user && call->op.commutative,
                             call->on_device};
    uint64_t hash = 0;
    for (unsigned i = 0; i < sizeof field / sizeof *field; i++)
        hash = hs_mix(hash, (uint64_t)field[i]);
    for (int r = 0; call->counts && r < team->group.size; r++)
        hash = hs_mix(hash, (uint64_t)call->counts[r]);
    for (const char *c = word; *c; c++)
        hash = hs_mix(hash, (uint64_t)*c);
    return (int64_t)(hash >> 1);
}

static hsumma_status advance_agreement(void *state, int *worked, int *done)
{
    struct hs_team *team = state;
    hsumma_status status = hs_progress(&team->agreement.instance, worked);
    hs_team_poll(team, worked);
    *done = !team->agreement.instance.active;
    return status ? status : team->broken ? HSUMMA_ERR_MPI : HSUMMA_OK;
}

/* All ranks join their verdicts; *cost becomes the largest. */
static hsumma_status agree(struct hs_team *team, hsumma_status mine, int about, int64_t hash, int64_t *cost,
                           struct hs_message *message)
{
    hsumma_status status = hs_agreement_start(&team->agreement, mine, about, *cost, hash);
    if (!status)
        status = hs_wait(advance_agreement, team);
    if (status) {
        fail_all(team, status);
        return hs_fail(message, status, "MPI failed when a collective began");
    }
    struct hs_verdict verdict = hs_agreement_verdict(&team->agreement);
    *cost = verdict.size;
    if (verdict.status && verdict.status != mine)
        hs_fail(message, verdict.status, "on process %d: %s", verdict.rank, hs_call_about(verdict.detail));
    if (!verdict.status && !verdict.alike)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "processes have called different collectives, or with different sizes, roots, operators or "
                       "algorithms");
    return verdict.status;
}

/* MPI's own collectives have a communicator for themselves. */
static hsumma_status need_native(struct hs_team *team, struct hs_message *message)
{
    MPI_Request request = MPI_REQUEST_NULL;
    struct waiting waiting = {.team = team, .request = &request};
    if (team->native != MPI_COMM_NULL)
        return HSUMMA_OK;
    if (MPI_Comm_idup(team->comm->comm, &team->native, &request) == MPI_SUCCESS && !hs_wait(advance, &waiting))
        return HSUMMA_OK;
    fail_all(team, HSUMMA_ERR_MPI);
    return hs_fail(message, HSUMMA_ERR_MPI, "MPI_Comm_idup failed");
}

/* Moves a signature to the front, or finds none. */
static struct hs_signature *find(struct hs_team *team, const struct hs_call *call)
{
    for (struct hs_signature **link = &team->signature; *link; link = &(*link)->next) {
        struct hs_signature *signature = *link;
        if (!hs_signature_serves(signature, call, team->group.size))
            continue;
        *link = signature->next;
        signature->next = team->signature;
        return team->signature = signature;
    }
    return NULL;
}

static void keep(struct hs_team *team, struct hs_signature *signature, int64_t cost)
{
    signature->cost = cost;
    signature->next = team->signature;
    team->signature = signature;
    team->signatures++;
    team->cost += cost;
    while (team->signatures > 1 && (team->signatures > SIGNATURES || team->cost > CACHE_BYTES)) {
        struct hs_signature **link = &team->signature;
        while ((*link)->next)
            link = &(*link)->next;
        struct hs_signature *oldest = *link;
        *link = NULL;
        team->signatures--;
        team->cost -= oldest->cost;
        hs_signature_drop(oldest, team->memory);
    }
}

/* What a call in place needs besides. */
static hsumma_status need_copy(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                               struct hs_message *message)
{
    if (operation->signature->device) {
        hsumma_status status = hs_device_call_need(operation, call, team->group.me);
        return status ? hs_fail(message, status, "no memory to stand in for the caller's: %s",
                                operation->signature->device->device->message.text)
                      : HSUMMA_OK;
    }
    if (!call->in_place || call->in_bytes == 0 || operation->copy)
        return HSUMMA_OK;
    operation->copy = hs_get(team->memory, (size_t)call->in_bytes, 1);
    return operation->copy ? HSUMMA_OK
                           : hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the copy that a call in place needs");
}

/* What peers read of calls on devices must lie where they have it mapped: the pool is as large as the largest kind of
 * call may need, on all ranks, so that later calls find it there. */
static hsumma_status need_pool(struct hs_team *team, const struct hs_signature *signature, const struct hs_call *call,
                               struct hs_message *message)
{
    struct hs_device_comm *on = signature->device;
    struct waiting waiting = {.team = team, .pool = 1};
    int64_t bytes = (int64_t)hs_device_call_pool(signature, call);
    if (!on->window || signature->on_host || !hs_signature_shares(signature))
        return HSUMMA_OK;
    hsumma_status status = agree(team, HSUMMA_OK, HS_CALL_NOTHING, 0, &bytes, message);
    if (status || (size_t)bytes <= on->pool_bytes)
        return status;
    status = hs_wait(advance, &waiting);
    if (!status)
        status = hs_device_pool_want(on, (size_t)bytes, message);
    return agree(team, status, HS_CALL_MEMORY, 0, &bytes, message);
}

/* Prepares a new kind of call, or checks an old one again, on all ranks together. */
static hsumma_status prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                             hsumma_status mine, int about, struct hs_message *message)
{
    struct hs_signature *fresh = NULL;
    struct hs_signature_maker made = maker(team);
    if (!mine && !*signature)
        mine = hs_signature_make(&made, call, &fresh, &about, message);
    if (!mine && fresh) {
        mine = need_copy(team, fresh->spare, call, message);
        about = mine ? HS_CALL_MEMORY : about;
    }
    const struct hs_signature *either = *signature ? *signature : fresh;
    int64_t cost = fresh ? hs_signature_bytes(fresh) + (call->in_place ? call->in_bytes : 0) : 0;
    hsumma_status status = agree(team, mine, about, mine ? 0 : hash_of(team, call, either), &cost, message);
    if (!status && fresh && fresh->device)
        status = need_pool(team, fresh, call, message);
    if (!status && fresh) {
        keep(team, fresh, cost);
        *signature = fresh;
    } else if (fresh) {
        hs_signature_drop(fresh, team->memory);
    }
    if (!status && (*signature)->chosen.alg->flags & HS_BY_MPI)
        status = need_native(team, message);
    return status;
}

/* Memory for one more of a kind; where there is none, waits until one before it is over. */
static struct hs_operation *take(struct hs_team *team, struct hs_signature *signature)
{
    struct waiting waiting = {.team = team, .reserve = signature};
    struct hs_operation *operation = hs_operation_take(signature, team->memory);
    if (operation || signature->under_way == 0 || hs_wait(advance, &waiting))
        return operation;
    return hs_operation_take(signature, team->memory);
}

static void bind(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                 struct hs_binding *binding)
{
    const struct hs_signature *signature = operation->signature;
    char *scratch = operation->scratch;
    int elsewhere = call->collective == HS_REDUCE_TO && team->group.me != call->root; /* no OUT of its own */
    operation->op = call->op;
    *binding = (struct hs_binding){
        .list = &signature->list,
        .group = team->group,
        .rotation = signature->rotation,
        .tag = hs_tag(HS_STREAM_COLL, operation->number),
        .slot = {(void *)call->in, call->out, scratch, NULL}, /* IN is only read */
        .combine = call->reduces ? hs_call_operator(&operation->op) : NULL,
        .state = &operation->op,
        .unit = call->unit,
    };
    if (call->in_place)
        binding->slot[HS_IN] = operation->copy;
    if (elsewhere && scratch)
        binding->slot[HS_OUT] = scratch + hs_aligned((size_t)signature->list.extent[HS_SCRATCH]);
    struct hs_window *window =
        signature->device && !signature->on_host ? signature->device->window : team->comm->window;
    if (hs_signature_shares(signature) && window) {
        binding->window = window;
        binding->instance = window->next++;
    }
    if (signature->chosen.alg->flags & HS_BY_MPI) {
        binding->native.collective = call->collective;
        binding->native.comm = team->native;
        binding->native.counts = signature->counts;
        binding->native.displacements = signature->counts ? signature->counts + signature->size : NULL;
        hs_native_types(call, &binding->native.type, &binding->native.op);
    }
}

static hsumma_status begin(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                           struct hs_ticket *ticket, struct hs_message *message)
{
    struct hs_binding binding;
    if (call->in_place && call->in_bytes > 0 && !operation->signature->device)
        memcpy(operation->copy, (const char *)call->out + call->place, (size_t)call->in_bytes);
    operation->number = team->number++;
    *ticket = (struct hs_ticket){0, HSUMMA_OK};
    operation->ticket = ticket;
    operation->next = NULL;
    if (team->last)
        team->last->next = operation;
    else
        team->first = operation;
    team->last = operation;
    bind(team, operation, call, &binding);
    hsumma_status status = operation->signature->device
                               ? hs_device_call_start(operation, call, team->group.me, team->comm, &binding)
                               : hs_start(&operation->instance, team->comm, &binding);
    if (status) {
        fail_all(team, status);
        return hs_fail(message, status, "a collective could not be started");
    }
    int worked = 0;
    if (!is_active(operation))
        progress(team, &worked);
    return HSUMMA_OK;
}

hsumma_status hs_team_start(struct hs_team *team, const struct hs_call *given, hsumma_status mine, int about,
                            struct hs_ticket *ticket, struct hs_message *message)
{
    struct hs_call here = *given, *call = &here;
    here.on_device = !mine && hs_call_is_on_device(team->comm->device, call, team->group.me);
    struct hs_signature *signature = mine ? NULL : find(team, call);
    if (!mine)
        mine = hs_call_check_pointers(call, team->group.me, &about, message);
    if (!mine && !ticket) {
        about = HS_CALL_MEMORY;
        mine = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a request");
    }
    hsumma_status status = mine;
    if (!signature || team->check_always)
        status = prepare(team, call, &signature, mine, about, message);
    struct waiting waiting = {.team = team, .number = team->number - APART};
    if (!status)
        waiting.native = (signature->chosen.alg->flags & HS_BY_MPI) != 0; /* MPI matches pieces by their order */
    if (!status && !passed(&waiting))
        status = hs_wait(advance, &waiting);
    struct hs_operation *operation = status ? NULL : take(team, signature);
    if (!status && !operation)
        status = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for one more collective");
    if (!status)
        status = need_copy(team, operation, call, message);
    if (!status)
        return begin(team, operation, call, ticket, message);
    if (operation)
        hs_operation_give(operation, team->memory);
    return status;
}

hsumma_status hs_team_describe(struct hs_team *team, const struct hs_call *call, char *text, size_t size,
                               struct hs_message *message)
{
    struct hs_signature_maker made = maker(team);
    struct hs_call mine = *call;
    struct hs_chosen chosen;
    mine.on_device = hs_call_is_on_device(team->comm->device, call, team->group.me);
    hsumma_status status = hs_signature_choose(&made, &mine, &chosen, message);
    if (status)
        return status;
    hs_answer_write(&chosen.question, &chosen.answer, text, size);
    size_t used = strlen(text);
    if (chosen.why_host)
        snprintf(text + used, size - used, "; through memory of the host: %s", chosen.why_host);
    else if (mine.on_device)
        snprintf(text + used, size - used, "; in device memory");
    return HSUMMA_OK;
}
