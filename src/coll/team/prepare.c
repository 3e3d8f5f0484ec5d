/* The first call of a kind, which all ranks prepare and agree on. */
#include "coll/team/parts.h"

#include "base/hash.h"
#include "base/operators.h"
#include "coll/node/agree_mpi.h"
#include "coll/run/device_comm.h"
#include "coll/team/call_device.h"

#include <inttypes.h>

/* Limits of the cache, which always keeps the most recently used signature. */
enum { SIGNATURES = 128, CACHE_BYTES = 64 << 20 };

static const struct hs_topology *places(const struct hs_team *team)
{
    return team->comm->topology.size == team->group.size ? &team->comm->topology : NULL;
}

struct hs_signature_maker hs_team_maker(struct hs_team *team)
{
    return (struct hs_signature_maker){.memory = team->memory,
                                       .selector = &team->selector,
                                       .topology = places(team),
                                       .device = team->comm->device,
                                       .rank = team->group.me,
                                       .size = team->group.size,
                                       .segment = team->segment};
}

/* Writes the chosen algorithm, which is "" before the choice. */
static const char *algorithm_of(const struct hs_signature *signature, char text[HS_ALG_SPEC_TEXT])
{
    text[0] = 0;
    if (signature)
        hs_alg_spec_write(&signature->chosen, text, HS_ALG_SPEC_TEXT);
    return text;
}

/* The hash of the data that must be equal on all ranks: the call and the chosen algorithm. */
static int64_t hash_of(const struct hs_team *team, const struct hs_call *call, const struct hs_signature *signature)
{
    char algorithm[HS_ALG_SPEC_TEXT];
    int user = call->op.op == HSUMMA_USER; /* only the caller's operators have `commutative`, and no `element` */
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
    return (int64_t)(hs_mix_text(hash, algorithm_of(signature, algorithm)) >> 1);
}

/* Also advances the calls in progress: other ranks may start the agreement only after these complete. */
static hsumma_status advance_agreement(void *state, int *worked, int *done)
{
    struct hs_team *team = state;
    hs_team_poll(team, worked);
    return team->broken ? team->status : hs_agreement_advance(&team->agreement, worked, done);
}

/* The function `agree` of hs_voters. Its votes have no error status; they only transfer values and text. */
static struct hs_verdict agree_again(void *team, struct hs_vote vote)
{
    struct hs_verdict verdict = {0};
    verdict.status = hs_team_agree(team, vote, &verdict, NULL);
    return verdict;
}

static struct hs_voters voters_of(struct hs_team *team)
{
    return (struct hs_voters){.agree = agree_again, .state = team, .rank = team->comm->rank};
}

hsumma_status hs_team_agree(struct hs_team *team, struct hs_vote mine, struct hs_verdict *verdict,
                            struct hs_message *message)
{
    hsumma_status status = hs_agreement_start(&team->agreement, mine);
    if (!status)
        status = hs_comm_wait(team->comm, advance_agreement, team);
    if (status) {
        hs_team_listen(team); /* the text of a notice is more specific than the status */
        hs_team_fail(team, status);
        return hs_fail(message, team->status, "%s",
                       team->failure.text[0] ? team->failure.text : "MPI failed at the start of a collective call");
    }
    *verdict = hs_agreement_verdict(&team->agreement);
    const struct hs_voters voters = voters_of(team);
    return verdict->status ? hs_unlike_report(&voters, mine.status, *verdict, message) : HSUMMA_OK;
}

/* Names the first argument that differs between ranks. The memory comes first, since the algorithm depends on it. */
static hsumma_status unlike(struct hs_team *team, const struct hs_call *call, const struct hs_signature *signature,
                            struct hs_message *message)
{
    const struct hs_voters voters = voters_of(team);
    const int user = call->op.op == HSUMMA_USER;
    uint64_t all_counts = 0;
    char algorithm[HS_ALG_SPEC_TEXT], counts[96] = "";
    for (int r = 0; call->counts && r < team->group.size; r++) {
        hs_append(counts, sizeof counts, "%s%" PRId64, r ? "," : "", call->counts[r]);
        all_counts = hs_mix(all_counts, (uint64_t)call->counts[r]);
    }
    const struct hs_given given[] = {
        {"memory", .text = call->on_device ? "device" : "host"},
        {"collective", .text = hs_collective_name(call->collective)},
        {"root", .number = call->root},
        {"op", .text = call->reduces ? hs_op_name(call->op.op) : "none"},
        {"element", .text = call->reduces && !user ? hs_element_name(call->op.element) : "none"},
        {"size of an element", .number = call->unit},
        {"commutative", .number = user && call->op.commutative},
        {"counts", .number = (int64_t)all_counts, .text = call->counts ? counts : "NULL"},
        {"count", .number = call->counts ? 0 : call->bytes / call->unit / (call->parted ? team->group.size : 1)},
        {"algorithm", .text = algorithm_of(signature, algorithm)},
    };
    return hs_unlike_explain(&voters, "a collective", given, sizeof given / sizeof *given, message);
}

/* Agrees on whether some rank needs a change by all. If so, sets *changes, and waits until no call is in progress. */
static hsumma_status agree_on_change(struct hs_team *team, int needs, int *changes, struct hs_message *message)
{
    struct hs_verdict verdict = {0};
    hsumma_status status = hs_team_agree(team, (struct hs_vote){.value = needs}, &verdict, message);
    *changes = !status && verdict.value;
    if (!*changes)
        return status;
    status = hs_team_drain(team);
    /* without this agreement, the change would wait for ever for a rank that has failed */
    return status ? status : hs_team_agree(team, (struct hs_vote){0}, &verdict, message);
}

static int is_joined(const struct hs_joined *joined, const struct hs_joint *joint)
{
    int same = joined->size == joint->size && joined->performer == joint->alg->performer;
    for (int i = 0; same && i < joint->size; i++)
        same = joined->rank[i] == hs_joint_rank(joint, i);
    return same;
}

/* Sets the communicators that exist. Returns the first joint without one, -1 if there is none. */
static int find_communicators(const struct hs_team *team, struct hs_signature *signature)
{
    for (int j = 0; j < signature->list.joints; j++) {
        const struct hs_joined *joined = team->joined;
        while (joined && !is_joined(joined, &signature->list.joint[j]))
            joined = joined->next;
        if (!joined)
            return j;
        signature->native[j].comm = joined->comm;
    }
    return -1;
}

/* Creates a communicator, which is collective over its ranks. */
static hsumma_status join(struct hs_team *team, const struct hs_joint *joint)
{
    enum { TAG = 1 << 12 };
    struct hs_joined *joined = hs_get(team->memory, 1, sizeof *joined + (size_t)joint->size * 2 * sizeof *joint->rank);
    if (!joined)
        return HSUMMA_ERR_MEMORY;
    *joined = (struct hs_joined){.performer = joint->alg->performer, .size = joint->size, .comm = MPI_COMM_NULL};
    int *rank = joined->rank + joint->size; /* in the communicator of the context */
    for (int i = 0; i < joint->size; i++) {
        joined->rank[i] = hs_joint_rank(joint, i);
        rank[i] = hs_group_rank(&team->group, joined->rank[i]);
    }
    MPI_Group group;
    hsumma_status status = hs_mpi_group(team->comm->comm, joint->size, rank, &group);
    if (!status)
        status = hs_mpi_subset(team->comm->comm, &group, TAG, &joined->comm);
    if (status) {
        hs_put(team->memory, joined);
        return status;
    }
    joined->next = team->joined;
    team->joined = joined;
    return HSUMMA_OK;
}

/* Creates the communicators of a signature's MPI steps that do not exist. MPI blocks meanwhile, so no call may be in
 * progress. Collective over all ranks, also those without such steps. */
static hsumma_status need_communicators(struct hs_team *team, struct hs_signature *signature,
                                        struct hs_message *message)
{
    struct hs_verdict verdict = {0};
    int missing = find_communicators(team, signature), changes;
    hsumma_status status = agree_on_change(team, missing >= 0, &changes, message);
    if (status || !changes)
        return status;
    while (!status && missing >= 0) {
        status = join(team, &signature->list.joint[missing]);
        missing = find_communicators(team, signature);
    }
    if (hs_status_is_final(status)) {
        hs_team_fail(team, status);
        return hs_fail(message, status, "MPI_Comm_create_group failed: no communicator for a collective by MPI");
    }
    return hs_team_agree(team, (struct hs_vote){.status = status, .about = HS_CALL_MEMORY}, &verdict, message);
}

void hs_team_forget(struct hs_team *team, enum hs_collective collective)
{
    for (struct hs_signature **link = &team->signature; *link;) {
        struct hs_signature *signature = *link;
        if (signature->collective != collective) {
            link = &signature->next;
            continue;
        }
        *link = signature->next;
        team->signatures--;
        team->cost -= signature->cost;
        hs_signature_drop(signature, team->memory);
    }
    hs_select_forget(&team->selector, collective);
}

struct hs_signature *hs_team_find(struct hs_team *team, const struct hs_call *call)
{
    struct hs_signature *signature = team->signature;
    while (signature && !hs_signature_serves(signature, call, team->group.size))
        signature = signature->next;
    return signature;
}

void hs_team_use(struct hs_team *team, struct hs_signature *signature)
{
    struct hs_signature **link = &team->signature;
    while (*link != signature)
        link = &(*link)->next;
    *link = signature->next;
    signature->next = team->signature;
    team->signature = signature;
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

hsumma_status hs_team_need_copy(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                                struct hs_message *message)
{
    if (operation->signature->device) {
        hsumma_status status = hs_device_call_need(operation, call);
        return status ? hs_fail(message, status, "no memory for a staged copy of the caller's buffer: %s",
                                operation->signature->device->device->message.text)
                      : HSUMMA_OK;
    }
    if (!call->in_place || call->in_bytes == 0 || operation->copy)
        return HSUMMA_OK;
    operation->copy = hs_get(team->memory, (size_t)call->in_bytes, 1);
    return operation->copy
               ? HSUMMA_OK
               : hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the private copy that an in-place call needs");
}

/* Values of *refused: 0; POOL if the pool could not be enlarged; else the bytes of SHARED that were not available. */
enum { POOL = 1 };

/*
 * Enlarges SHARED and the pool to the bytes that this kind of call may need on any rank. This is collective, because
 * all peers must map them, and is done once per kind of call. If memory is short, sets *refused.
 */
static hsumma_status need_shared(struct hs_team *team, const struct hs_signature *signature, const struct hs_call *call,
                                 int64_t *refused, struct hs_message *message)
{
    struct hs_device_comm *on = signature->device;
    struct hs_verdict verdict = {0};
    int64_t bytes = 0;
    int changes;
    if (!on->shm || signature->on_host || !hs_alg_may_share(signature->chosen.alg))
        return HSUMMA_OK;
    int lacks =
        hs_device_lacks(on, &signature->list, &team->group, signature->rotation, hs_device_call_pool(signature, call));
    hsumma_status status = agree_on_change(team, lacks, &changes, message);
    if (status || !changes)
        return status;
    status = hs_device_grow(on, &bytes, message);
    const struct hs_vote vote = {.status = status, .about = HS_CALL_MEMORY, .value = status && !bytes ? POOL : bytes};
    status = hs_team_agree(team, vote, &verdict, message);
    if (status && !hs_status_is_final(status))
        *refused = verdict.value;
    return status;
}

/* A vote's value has the ring of SHARED that this rank's list needs above this bit, below it the bytes of memory. */
enum { RING_BIT = 60 };

/* Prepares a new kind of call, or checks a known one again. Sets *refused as need_shared does. */
static hsumma_status prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                             hsumma_status mine, int about, int64_t *refused, struct hs_message *message)
{
    struct hs_signature *fresh = NULL;
    struct hs_signature_maker made = hs_team_maker(team);
    struct hs_verdict verdict = {0};
    if (!mine && !*signature)
        mine = hs_signature_make(&made, call, &fresh, &about, message);
    if (!mine && fresh) {
        mine = hs_team_need_copy(team, fresh->spare, call, message);
        about = mine ? HS_CALL_MEMORY : about;
    }
    const struct hs_signature *either = *signature ? *signature : fresh;
    struct hs_vote vote = {.status = mine, .about = about, .hash = mine ? 0 : hash_of(team, call, either)};
    if (fresh)
        vote.value = (hs_signature_bytes(fresh) + (call->in_place ? call->in_bytes : 0)) |
                     (int64_t)(fresh->device ? HS_SHARED_RINGS - 1 : hs_shm_ring_for(fresh->list.reach)) << RING_BIT;
    hsumma_status status = hs_team_agree(team, vote, &verdict, message);
    if (!status && !verdict.alike)
        status = unlike(team, call, either, message);
    if (!status && fresh && fresh->device)
        status = need_shared(team, fresh, call, refused, message);
    if (!status && fresh && hs_alg_spec_by_mpi(&fresh->chosen))
        status = need_communicators(team, fresh, message);
    if (!status && fresh) {
        fresh->ring = (int)(verdict.value >> RING_BIT);
        keep(team, fresh, verdict.value & ((INT64_C(1) << RING_BIT) - 1));
        *signature = fresh;
    } else if (fresh) {
        hs_signature_drop(fresh, team->memory);
    }
    return status;
}

hsumma_status hs_team_prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                              hsumma_status mine, int about, struct hs_message *message)
{
    int64_t refused = 0;
    if (!mine && hs_team_must_measure(team, call)) {
        int alike;
        hsumma_status measured = hs_team_measure(team, call, hash_of(team, call, NULL), &alike, message);
        if (measured || !alike)
            return measured ? measured : unlike(team, call, NULL, message);
        *signature = hs_team_find(team, call); /* NULL if there are new prices */
        if (*signature && !team->check_always)
            return HSUMMA_OK;
    }
    hsumma_status status = prepare(team, call, signature, mine, about, &refused, message);
    while (refused && hs_device_lower(team->comm->device, refused == POOL ? 0 : refused)) {
        refused = 0;
        status = prepare(team, call, signature, HSUMMA_OK, about, &refused, message);
    }
    return status;
}
