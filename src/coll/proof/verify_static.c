/*
 * Part of verify: checks of each list without running it. Messages match by list order, whatever the timing, so lists
 * without hazards compute the same result under every interleaving, and if one interleaving completes with rendezvous,
 * all do.
 */
#include "coll/proof/verify_parts.h"

static int overlap(const struct hs_access *a, const struct hs_access *b)
{
    return a->ref.slot == b->ref.slot && a->ref.of == b->ref.of && a->ref.at < b->end && b->ref.at < a->end;
}

static int same_node(const struct hs_shape *shape, int a, int b)
{
    return shape->topology && hs_node_of(shape->topology, a) == hs_node_of(shape->topology, b);
}

/* Checks that a rank may access the slot of a peer that a step names. */
static hsumma_status check_peer(struct hs_proof *proof, int rank, int i, const struct hs_access *access)
{
    const struct hs_shape *shape = proof->shape;
    enum hs_kind kind = proof->list[rank].step[i].kind;
    enum hs_slot slot = access->ref.slot;
    int owner = access->ref.of - 1;
    const char *what = NULL;

    if (owner < 0 || owner >= shape->size || owner == rank)
        what = "which is no other rank";
    else if (kind != HS_COPY && kind != HS_REDUCE)
        what = "which only COPY and REDUCE may read or write";
    else if (access->writes && slot != HS_SHARED)
        what = "which only that rank may write";
    else if (slot == HS_SCRATCH)
        what = "which is private";
    else if (!same_node(shape, rank, owner))
        what = "which is on another node";
    else if (slot != HS_SHARED && !shape->topology->direct)
        what = "which peers cannot read on this topology";
    else if (slot != HS_SHARED && !(proof->list[owner].exposed & 1u << slot))
        what = "which is not exposed";
    return what ? hs_wrong_step(proof, rank, i, ": uses %s of rank %d, %s", hs_slot_name(slot), owner, what)
                : HSUMMA_OK;
}

static hsumma_status check_access(struct hs_proof *proof, int rank, int i, const struct hs_access *access)
{
    enum hs_slot slot = access->ref.slot;

    if ((unsigned)slot >= HS_SLOTS)
        return hs_wrong_step(proof, rank, i, ": no such slot");
    if (access->ref.of && check_peer(proof, rank, i, access))
        return HSUMMA_ERR_INTERNAL;
    int owner = access->ref.of ? access->ref.of - 1 : rank;
    if (access->ref.at % proof->shape->unit)
        return hs_wrong_step(proof, rank, i, ": offset %lld in %s is no multiple of the unit",
                             (long long)access->ref.at, hs_slot_name(slot));
    int64_t bytes = hs_slot_bytes(proof, owner, slot);
    if (access->ref.of && slot == HS_SHARED) /* peers may use more of SHARED than its owner */
        bytes = proof->shape->topology->shared_bytes;
    if (access->ref.at < 0 || access->end > bytes || (!access->ref.of && access->end > proof->list[rank].extent[slot]))
        return hs_wrong_step(proof, rank, i, ": bytes %lld..%lld are outside %s of rank %d, which has %lld",
                             (long long)access->ref.at, (long long)access->end, hs_slot_name(slot), owner,
                             (long long)bytes);
    if (access->writes && hs_slot_fixed(proof, rank, slot))
        return hs_wrong_step(proof, rank, i, ": writes to %s, which must stay as it is", hs_slot_name(slot));
    return HSUMMA_OK;
}

/* Checks the peers and values of SIGNAL, WAIT and messages. */
static hsumma_status check_partner(struct hs_proof *proof, int rank, int i)
{
    const struct hs_shape *shape = proof->shape;
    const struct hs_step *step = &proof->list[rank].step[i];
    int flags = step->kind == HS_SIGNAL || step->kind == HS_WAIT;

    if ((step->kind == HS_SEND || step->kind == HS_RECV || step->kind == HS_WAIT) &&
        (step->peer < 0 || step->peer >= shape->size || step->peer == rank))
        return hs_wrong_step(proof, rank, i, ": peer %d is no other rank of %d", step->peer, shape->size);
    if (flags && (step->count < 1 || step->count > HS_SIGNAL_MAX))
        return hs_wrong_step(proof, rank, i, ": value %lld is out of range", (long long)step->count);
    if (flags && (!shape->topology || shape->topology->shared_bytes == 0))
        return hs_wrong_step(proof, rank, i, ": there is no shared memory");
    if (step->kind == HS_WAIT && !same_node(shape, rank, step->peer))
        return hs_wrong_step(proof, rank, i, ": rank %d is on another node", step->peer);
    return HSUMMA_OK;
}

/* True if the joint of an MPI step is valid and contains the rank. */
static int has_joint(const struct hs_proof *proof, int rank, const struct hs_step *step)
{
    const struct hs_list *list = &proof->list[rank];
    int size = proof->shape->size, mine = 0;
    if (step->peer < 0 || step->peer >= list->joints)
        return 0;
    const struct hs_joint *joint = &list->joint[step->peer];
    if (joint->size > size || joint->root < 0 || joint->root >= joint->size)
        return 0;
    for (int i = 0; i < joint->size; i++) {
        int member = hs_joint_rank(joint, i);
        mine += member == rank;
        for (int j = 0; j < i; j++)
            if (hs_joint_rank(joint, j) == member)
                return 0;
        if (member < 0 || member >= size)
            return 0;
    }
    return mine == 1;
}

static hsumma_status check_step(struct hs_proof *proof, int rank, int i)
{
    const struct hs_list *list = &proof->list[rank];
    const struct hs_step *step = &list->step[i];
    struct hs_access access[3];

    if ((unsigned)step->kind >= HS_KINDS)
        return hs_wrong(proof, "rank %d step %d: no such kind", rank, i);
    if (step->kind == HS_MPI && !has_joint(proof, rank, step))
        return hs_wrong_step(proof, rank, i, ": its ranks are not distinct ranks of %d with rank %d among them",
                             proof->shape->size, rank);
    if (step->count <= 0 || (hs_step_touches(step) && step->count % proof->shape->unit))
        return hs_wrong_step(proof, rank, i, ": count %lld is not a positive multiple of the unit",
                             (long long)step->count);
    if (check_partner(proof, rank, i))
        return HSUMMA_ERR_INTERNAL;
    for (int d = 0; d < step->deps; d++)
        if (list->dep[step->first_dep + d] < 0 || list->dep[step->first_dep + d] >= i)
            return hs_wrong_step(proof, rank, i, ": depends on step %d, which is not an earlier one",
                                 list->dep[step->first_dep + d]);
    int n = hs_accesses_of(step, i, access);
    hsumma_status status = HSUMMA_OK;
    for (int a = 0; a < n && !status; a++)
        status = check_access(proof, rank, i, &access[a]);
    if (!status && step->kind == HS_EXACT && step->peer < 1)
        status = hs_wrong_step(proof, rank, i, ": %d operands; expected 1 or more", step->peer);
    /* The dst of a REDUCE or MPI step may be one of its operands, but must not overlap one at another offset. */
    for (int a = 0; a < n - 1 && !status; a++)
        if (overlap(&access[a], &access[n - 1]) &&
            (step->kind == HS_COPY || step->kind == HS_EXACT || access[a].ref.at != access[n - 1].ref.at))
            status = hs_wrong_step(proof, rank, i, ": source and destination overlap");
    return status;
}

hsumma_status hs_verify_static(struct hs_proof *proof)
{
    int64_t shared_bytes = proof->shape->topology ? proof->shape->topology->shared_bytes : 0;
    hsumma_status status = HSUMMA_OK;
    for (int r = 0; r < proof->shape->size && !status; r++) {
        if (proof->list[r].extent[HS_SHARED] > shared_bytes)
            status = hs_wrong(proof, "rank %d uses %lld bytes of SHARED, but there is room for %lld", r,
                              (long long)proof->list[r].extent[HS_SHARED], (long long)shared_bytes);
        for (int i = 0; i < proof->list[r].steps && !status; i++)
            status = check_step(proof, r, i);
    }
    return status ? status : hs_verify_hazards(proof);
}
