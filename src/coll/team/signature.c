#include "coll/team/signature.h"
#include "base/simulator.h"

#include "coll/run/device_comm.h"
#include "coll/team/call_device.h"

#include <limits.h>
#include <string.h>

/* Whether the order of the operands may change bits of the result; integers wrap. */
static int may_round(const struct hs_call *call)
{
    return call->reduces &&
           (call->op.op == HSUMMA_USER || (call->op.element != HSUMMA_INT32 && call->op.element != HSUMMA_INT64));
}

int hs_signature_serves(const struct hs_signature *signature, const struct hs_call *call, int size)
{
    if (signature->collective != call->collective || signature->bytes != call->bytes || signature->unit != call->unit ||
        signature->root != call->root || signature->user != (call->op.op == HSUMMA_USER) ||
        signature->ordered != hs_call_ordered(call) || !signature->device != !call->on_device ||
        signature->rounds != may_round(call) || !signature->part != !call->counts ||
        strcmp(signature->algorithm, call->algorithm ? call->algorithm : "") != 0)
        return 0;
    for (int r = 0; call->counts && r < size; r++)
        if (signature->part[r + 1] - signature->part[r] != call->counts[r] * call->unit)
            return 0;
    return 1;
}

static const char *no_mpi(const struct hs_call *call)
{
    int64_t unit = call->reduces ? call->unit : 1; /* other collectives use MPI_BYTE */
    if (hs_simulator())
        return "the simulator cannot wait for MPI's own collectives beside messages";
    if (call->op.op == HSUMMA_USER)
        return "the operator is user-defined";
    return call->parted && call->bytes / unit > INT_MAX ? "MPI counts to 2^31 - 1 only" : NULL;
}

/* The lists of a row with stages may use shared memory, because "shared" is the default row of some stages. */
int hs_alg_may_share(const struct hs_alg *alg)
{
    return (alg->flags & (HS_USES_SHARED | HS_USES_OUTER | HS_USES_INNER)) != 0;
}

/* Why the host must perform a call on device memory by `spec` (NULL: by any row); NULL if the device can. */
static const char *why_host(const struct hs_signature_maker *maker, const struct hs_call *call,
                            const struct hs_alg_spec *spec)
{
    const struct hs_alg *alg = spec ? spec->alg : NULL;
    if (call->op.op == HSUMMA_USER)
        return "the operator is user-defined";
    if (spec && hs_alg_spec_by_mpi(spec))
        return spec->alg->performer           ? "the algorithm is a function of the caller"
               : spec->alg->flags & HS_BY_MPI ? "the algorithm is MPI's own"
                                              : "a stage is performed by MPI or by a function of the caller";
    if (alg && alg->flags & (HS_ON_HOST | HS_EXACT_SUMS))
        return "the algorithm requires it";
    return alg && hs_alg_may_share(alg) && maker->device->note.text[0] ? maker->device->note.text : NULL;
}

static hsumma_status choose(const struct hs_signature_maker *maker, const struct hs_call *call, const char *algorithm,
                            int on_device, struct hs_chosen *chosen, struct hs_message *message)
{
    chosen->shape = (struct hs_shape){.rank = maker->rank,
                                      .size = maker->size,
                                      .root = call->root,
                                      .bytes = call->bytes,
                                      .unit = call->unit,
                                      .segment = maker->segment,
                                      .topology = maker->topology};
    if (on_device && maker->topology)
        chosen->shape.topology = &maker->device->topology;
    chosen->question = (struct hs_question){.collective = call->collective,
                                            .shape = &chosen->shape,
                                            .ordered = hs_call_ordered(call),
                                            .on_device = on_device,
                                            .own_operator = call->op.op == HSUMMA_USER,
                                            .rounds = may_round(call),
                                            .no_mpi = no_mpi(call),
                                            .spec = algorithm};
    return hs_select(maker->selector, &chosen->question, &chosen->answer, message);
}

/*
 * For a call on device memory the algorithm is chosen for the device, unless the operator is the caller's, which only
 * the host can apply. If the host must perform the chosen algorithm, the choice is repeated for host memory, with that
 * algorithm as the spec.
 */
hsumma_status hs_signature_choose(const struct hs_signature_maker *maker, const struct hs_call *call,
                                  struct hs_chosen *chosen, struct hs_message *message)
{
    chosen->why_host = call->on_device ? why_host(maker, call, NULL) : NULL;
    int on_device = call->on_device && !chosen->why_host;
    hsumma_status status = choose(maker, call, call->algorithm, on_device, chosen, message);
    if (status || !on_device)
        return status;
    chosen->why_host = why_host(maker, call, &chosen->answer.spec);
    if (!chosen->why_host)
        return HSUMMA_OK;
    const struct hs_answer first = chosen->answer;
    hs_alg_spec_write(&chosen->answer.spec, chosen->text, sizeof chosen->text);
    status = choose(maker, call, chosen->text, 0, chosen, message);
    int stays = chosen->answer.spec.alg == first.spec.alg;
    chosen->answer.by = first.by == HS_CHOSEN_BY_MODEL && !stays ? HS_CHOSEN_BY_DEFAULT : first.by;
    chosen->answer.next = first.next;
    chosen->answer.seconds = first.seconds;
    chosen->answer.next_seconds = first.next_seconds;
    return status;
}

/* Sets the signature's parts in bytes and, for row "mpi", in elements of the MPI datatype. */
static hsumma_status make_parts(struct hs_signature *signature, const struct hs_call *call, int by_mpi,
                                const struct hs_allocator *memory)
{
    int size = signature->size;
    if (call->counts) {
        signature->part = hs_get(memory, (size_t)size + 1, sizeof *signature->part);
        if (!signature->part)
            return HSUMMA_ERR_MEMORY;
        signature->part[0] = 0;
        for (int r = 0; r < size; r++)
            signature->part[r + 1] = signature->part[r] + call->counts[r] * call->unit;
    }
    if (!by_mpi || !call->parted)
        return HSUMMA_OK;
    signature->counts = hs_get(memory, 2 * (size_t)size, sizeof *signature->counts);
    if (!signature->counts)
        return HSUMMA_ERR_MEMORY;
    struct hs_shape shape = {.size = size, .bytes = call->bytes, .unit = call->unit, .part = signature->part};
    int64_t unit = call->reduces ? call->unit : 1;
    for (int r = 0; r < size; r++) {
        signature->counts[r] = (int)((hs_part_at(&shape, r + 1) - hs_part_at(&shape, r)) / unit);
        signature->counts[size + r] = (int)(hs_part_at(&shape, r) / unit);
    }
    return HSUMMA_OK;
}

/* Allocates what the list's MPI steps need. Their communicators are created when all ranks have agreed on the call. */
static hsumma_status make_native(struct hs_signature *signature, const struct hs_allocator *memory)
{
    int joints = signature->list.joints;
    if (joints == 0)
        return HSUMMA_OK;
    signature->native = hs_get_zero(memory, (size_t)joints, sizeof *signature->native);
    for (int j = 0; signature->native && j < joints; j++)
        signature->native[j] =
            (struct hs_native){.comm = MPI_COMM_NULL,
                               .counts = signature->counts,
                               .displacements = signature->counts ? signature->counts + signature->size : NULL};
    return signature->native ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

static hsumma_status build(const struct hs_signature_maker *maker, const struct hs_call *call,
                           struct hs_signature *signature, int *about, struct hs_message *message)
{
    struct hs_chosen chosen;
    if (call->algorithm && strlen(call->algorithm) >= HS_ALG_SPEC_TEXT) {
        *about = HS_CALL_ALGORITHM;
        return hs_fail(message, HSUMMA_ERR_OPTION, "algorithm has %zu characters; expected fewer than %d",
                       strlen(call->algorithm), HS_ALG_SPEC_TEXT);
    }
    memcpy(signature->algorithm, call->algorithm ? call->algorithm : "",
           call->algorithm ? strlen(call->algorithm) + 1 : 1);
    hsumma_status status = hs_signature_choose(maker, call, &chosen, message);
    *about = status == HSUMMA_ERR_OPTION ? HS_CALL_ALGORITHM : HS_CALL_MEMORY;
    if (status)
        return status;
    signature->chosen = chosen.answer.spec;
    signature->replaced = chosen.answer.asked.alg != NULL;
    signature->on_host = chosen.why_host != NULL;
    struct hs_shape shape = chosen.shape;
    const struct hs_alg *alg = chosen.answer.spec.alg;
    status = make_parts(signature, call, (alg->flags & HS_BY_MPI) != 0, maker->memory);
    if (!status) {
        shape.part = signature->part;
        shape.with = chosen.answer.spec.with;
        shape.segment = chosen.answer.spec.segment ? chosen.answer.spec.segment : maker->segment;
        signature->rotation = hs_rotation(alg, &shape);
        shape.rank = (maker->rank - signature->rotation + maker->size) % maker->size;
        shape.root = signature->rotation ? 0 : call->root;
        status = hs_build(alg, &shape, maker->memory, &signature->list);
    }
    if (!status)
        status = make_native(signature, maker->memory);
    if (status == HSUMMA_ERR_MEMORY || !status)
        return status ? hs_fail(message, status, "no memory for the steps of %s", alg->name) : HSUMMA_OK;
    *about = HS_CALL_ALGORITHM;
    if (status == HSUMMA_ERR_UNSUPPORTED && hs_alg_spec_by_mpi(&chosen.answer.spec))
        return hs_fail(message, status, "%s algorithm %s: a stage has no such collective by MPI or by the function",
                       hs_collective_name(alg->collective), alg->name);
    return hs_fail(message, status, "%s algorithm %s: its builder failed for this call%s",
                   hs_collective_name(alg->collective), alg->name, alg->own ? "; see hsumma_coll_prove" : "");
}

hsumma_status hs_signature_make(const struct hs_signature_maker *maker, const struct hs_call *call,
                                struct hs_signature **result, int *about, struct hs_message *message)
{
    struct hs_signature *signature = hs_get_zero(maker->memory, 1, sizeof *signature);
    *result = NULL;
    *about = HS_CALL_MEMORY;
    if (!signature)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a collective call");
    signature->collective = call->collective;
    signature->root = call->root;
    signature->ordered = hs_call_ordered(call);
    signature->user = call->op.op == HSUMMA_USER;
    signature->rounds = may_round(call);
    signature->device = call->on_device ? maker->device : NULL;
    signature->unit = call->unit;
    signature->bytes = call->bytes;
    signature->size = maker->size;
    hsumma_status status = build(maker, call, signature, about, message);
    struct hs_operation *operation = status ? NULL : hs_operation_take(signature, maker->memory);
    if (!status && !operation) {
        *about = HS_CALL_MEMORY;
        status = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for %s of %lld bytes",
                         hs_collective_name(call->collective), (long long)call->bytes);
    }
    if (status) {
        hs_signature_drop(signature, maker->memory);
        return status;
    }
    hs_operation_give(operation, maker->memory);
    *about = HS_CALL_NOTHING;
    *result = signature;
    return HSUMMA_OK;
}

static void free_operation(struct hs_operation *operation, const struct hs_allocator *memory)
{
    if (operation->signature->device)
        hs_device_call_put(operation);
    hs_put(memory, operation->memory);
    hs_put(memory, operation->scratch);
    hs_put(memory, operation->copy);
    hs_put(memory, operation);
}

void hs_signature_drop(struct hs_signature *signature, const struct hs_allocator *memory)
{
    signature->left = 1;
    if (signature->under_way)
        return;
    while (signature->spare) {
        struct hs_operation *operation = signature->spare;
        signature->spare = operation->next;
        free_operation(operation, memory);
    }
    hs_list_free(memory, &signature->list);
    hs_put(memory, signature->part);
    hs_put(memory, signature->counts);
    hs_put(memory, signature->native);
    hs_put(memory, signature);
}

/* The bytes of SCRATCH, and of OUT for ranks whose caller has no out buffer. */
static int64_t scratch_bytes(const struct hs_signature *signature)
{
    const int64_t *extent = signature->list.extent;
    int64_t out = signature->collective == HS_REDUCE_TO ? extent[HS_OUT] : 0;
    return (int64_t)hs_aligned((size_t)extent[HS_SCRATCH]) + out;
}

int64_t hs_signature_bytes(const struct hs_signature *signature)
{
    return (int64_t)(sizeof *signature + sizeof(struct hs_operation) + hs_instance_bytes(signature->list.steps)) +
           (int64_t)sizeof(struct hs_step) * signature->list.steps + scratch_bytes(signature);
}

struct hs_operation *hs_operation_take(struct hs_signature *signature, const struct hs_allocator *memory)
{
    struct hs_operation *operation = signature->spare;
    if (operation) {
        signature->spare = operation->next;
        signature->spares--;
        signature->under_way++;
        return operation;
    }
    int64_t bytes = scratch_bytes(signature);
    operation = hs_get_zero(memory, 1, sizeof *operation);
    if (!operation)
        return NULL;
    operation->signature = signature;
    operation->memory = hs_get(memory, 1, hs_instance_bytes(signature->list.steps));
    int taken = signature->device && hs_device_call_get(operation, bytes) != HSUMMA_OK ? 0 : 1;
    if (!signature->device && bytes)
        taken = (operation->scratch = hs_get(memory, (size_t)bytes, 1)) != NULL;
    if (!operation->memory || !taken) {
        free_operation(operation, memory);
        return NULL;
    }
    hs_instance_init(&operation->instance, operation->memory, signature->list.steps);
    signature->under_way++;
    return operation;
}

/* A signature keeps one operation of any size in reserve, or up to SPARES of at most SMALL_RESERVE bytes each. */
enum { SPARES = 16, SMALL_RESERVE = 64 * 1024 };

void hs_operation_give(struct hs_operation *operation, const struct hs_allocator *memory)
{
    struct hs_signature *signature = operation->signature;
    signature->under_way--;
    if (signature->spares == 0 || (signature->spares < SPARES && hs_signature_bytes(signature) <= SMALL_RESERVE)) {
        operation->next = signature->spare;
        signature->spare = operation;
        signature->spares++;
    } else {
        free_operation(operation, memory);
    }
    if (signature->left)
        hs_signature_drop(signature, memory);
}
