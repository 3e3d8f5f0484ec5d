#include "coll/run/agree.h"

#include "coll/run/notice.h"
#include "coll/schedule/registry.h"

#include <string.h>

enum { POLLS_BETWEEN_LOOKS = 64 };

/* Combines two ballots. The list's unit is one ballot, so `bytes` is always the size of a ballot. */
static void join(void *dst, const void *left, const void *right, int64_t bytes, void *state)
{
    struct hs_ballot ballot, other;
    (void)bytes, (void)state;
    memcpy(&ballot, left, sizeof ballot);
    memcpy(&other, right, sizeof other);
    hs_ballot_join(&ballot, &other);
    memcpy(dst, &ballot, sizeof ballot);
}

/*
 * Finds the members whose ballots this rank reads in the directory. If the group is on one node, these are all members;
 * on several nodes a leader reads those of its mates, another rank that of its leader. On several nodes
 * agreement->group becomes the leaders of all nodes if this rank is one of them; else, and on one node, it becomes
 * empty.
 */
static hsumma_status divide(struct hs_agreement *agreement, const struct hs_allocator *memory)
{
    const struct hs_comm *comm = agreement->comm;
    const struct hs_division *node = &comm->topology.division[HS_NODE];
    struct hs_group *group = &agreement->group;
    int whole = comm->topology.size == 0; /* without a topology the communicator is on one node */
    int parts = whole ? 1 : node->parts, here = whole ? 0 : hs_part_of(node, comm->rank), leaders = 0;
    int *leader = agreement->places = hs_get(memory, (size_t)(parts + comm->mates.count), sizeof *leader);
    if (!leader)
        return HSUMMA_ERR_MEMORY;
    int *mate = leader + parts;
    agreement->mate = mate;
    for (int part = 0; part < parts; part++)
        leader[part] = -1;
    for (int i = 0; i < group->size; i++) {
        int rank = hs_group_rank(group, i), part = whole ? 0 : hs_part_of(node, rank);
        leader[part] = leader[part] < 0 ? hs_group_place(group, i) : leader[part];
        if (part == here)
            mate[agreement->mates++] = hs_mate_index(&comm->mates, rank);
    }
    group->me = 0;
    for (int part = 0; part < parts; part++) {
        group->me = part == here ? leaders : group->me;
        if (leader[part] >= 0)
            leader[leaders++] = leader[part];
    }
    int leads = leaders > 1 && mate[0] == agreement->directory->me;
    *group = (struct hs_group){
        .table = group->table, .stride = 1, .size = leads ? leaders : 0, .me = group->me, .at = leader};
    if (leads) { /* a leader does not read its own ballot */
        agreement->mate++;
        agreement->mates--;
    } else if (leaders > 1) { /* other ranks read only the leader's ballot, the verdict */
        agreement->mates = 1;
    }
    return HSUMMA_OK;
}

/* Prepares the allreduce: builds its list and allocates its instance. */
static hsumma_status connect(struct hs_agreement *agreement, const struct hs_allocator *memory)
{
    const struct hs_group *group = &agreement->group;
    struct hs_shape shape = {
        .rank = group->me, .size = group->size, .bytes = sizeof agreement->mine, .unit = sizeof agreement->mine};
    hsumma_status status = hs_build(hs_alg_safe(HS_ALLREDUCE), &shape, memory, &agreement->list);
    if (status)
        return status;
    int steps = agreement->list.steps;
    if (agreement->list.extent[HS_SCRATCH] > (int64_t)sizeof agreement->scratch)
        return HSUMMA_ERR_INTERNAL;
    agreement->work = hs_get(memory, 1, hs_instance_bytes(steps));
    if (!agreement->work)
        return HSUMMA_ERR_MEMORY;
    hs_instance_init(&agreement->instance, agreement->work, steps);
    return HSUMMA_OK;
}

hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                struct hs_directory *directory, enum hs_agreement_number number,
                                const struct hs_allocator *memory)
{
    *agreement = (struct hs_agreement){
        .comm = comm, .group = *group, .directory = directory, .tag = hs_tag(HS_CHANNEL_AGREE, number)};
    hsumma_status status = directory ? divide(agreement, memory) : HSUMMA_OK;
    if (!status && agreement->group.size > 0)
        status = connect(agreement, memory);
    if (status)
        hs_agreement_free(agreement, memory);
    return status;
}

void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory)
{
    hs_list_free(memory, &agreement->list);
    hs_put(memory, agreement->work);
    hs_put(memory, agreement->places);
    agreement->work = NULL;
    agreement->places = NULL;
}

static int sends(const struct hs_agreement *agreement)
{
    return agreement->group.size > 0;
}

int hs_agreement_awaits_mates(const struct hs_agreement *agreement)
{
    return agreement->met < agreement->mates;
}

/* Starts the allreduce of the votes combined so far. */
static hsumma_status send(struct hs_agreement *agreement)
{
    struct hs_binding binding = {
        .list = &agreement->list,
        .group = agreement->group,
        .tag = agreement->tag,
        .slot = {[HS_IN] = &agreement->mine, [HS_OUT] = &agreement->result, [HS_SCRATCH] = agreement->scratch},
        .combine = join};
    agreement->mine = agreement->result;
    return hs_start(&agreement->instance, agreement->comm, &binding);
}

/* Makes mates that wait for this rank's ballot return an error, unless a notice informs them. Returns the status. */
static hsumma_status fail(struct hs_agreement *agreement, hsumma_status status)
{
    if (agreement->directory && status != HSUMMA_ERR_DEVICE)
        hs_directory_break(agreement->directory, status);
    return status;
}

hsumma_status hs_agreement_start(struct hs_agreement *agreement, struct hs_vote mine)
{
    hsumma_status status = HSUMMA_OK;
    agreement->mine = agreement->result = hs_ballot_of(mine, agreement->comm->rank);
    agreement->met = 0;
    if (agreement->directory)
        agreement->arrival = ++agreement->directory->arrivals;
    if (!sends(agreement))
        hs_directory_arrive(agreement->directory, agreement->arrival, &agreement->mine);
    else if (agreement->mates == 0)
        status = send(agreement);
    return status ? fail(agreement, status) : HSUMMA_OK;
}

struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement)
{
    return hs_ballot_verdict(&agreement->result);
}

/* Combines the ballots that have arrived since the last call. */
static void meet(struct hs_agreement *agreement, int *worked)
{
    struct hs_ballot ballot;
    hs_directory_look(agreement->directory);
    while (agreement->met < agreement->mates &&
           hs_directory_arrived(agreement->directory, agreement->mate[agreement->met], agreement->arrival, &ballot)) {
        hs_ballot_join(&agreement->result, &ballot);
        agreement->met++;
        *worked = 1;
    }
}

/*
 * Advances the allreduce of a rank that sends messages, then stores the result as its ballot in the directory, if there
 * is one. No ballot is overwritten before it is read, since a rank finishes reading agreement n before it starts n + 1:
 * when a leader stores verdict n + 1, all its mates have stored vote n + 1, so they have read verdict n; when a mate
 * stores vote n + 1, it has read verdict n, so its leader has read vote n.
 */
static hsumma_status lead(struct hs_agreement *agreement, int *worked, int *done)
{
    hsumma_status status = hs_progress(&agreement->instance, worked);
    *done = !status && !agreement->instance.active;
    if (*done && agreement->directory)
        hs_directory_arrive(agreement->directory, agreement->arrival, &agreement->result);
    return status;
}

/* Returns an error if another rank has failed. */
static hsumma_status look_around(const struct hs_agreement *agreement)
{
    if (hs_notice_has_come(agreement->comm))
        return HSUMMA_ERR_DEVICE;
    return agreement->directory ? hs_directory_broken(agreement->directory) : HSUMMA_OK;
}

/* Notes that this rank waits for the first rank whose ballot is missing. */
static void note_wait(const struct hs_agreement *agreement)
{
    const struct hs_comm *comm = agreement->comm;
    int receives, peer = hs_agreement_awaits_mates(agreement) ? comm->mates.rank[agreement->mate[agreement->met]]
                                                              : hs_instance_awaits(&agreement->instance, &receives);
    hs_trace_await(comm->trace, agreement,
                   (struct hs_trace_entry){.cause = HS_CAUSE_START, .peer = peer, .panel = -1, .operand = -1});
}

hsumma_status hs_agreement_advance(void *state, int *worked, int *done)
{
    struct hs_agreement *agreement = state;
    hsumma_status status = HSUMMA_OK;
    int met = !hs_agreement_awaits_mates(agreement);
    if (!met) {
        meet(agreement, worked);
        met = !hs_agreement_awaits_mates(agreement);
        if (met && sends(agreement))
            status = send(agreement);
    }
    *done = met;
    if (!status && met && sends(agreement))
        status = lead(agreement, worked, done);
    if (!status && *done)
        hs_trace_resume(agreement->comm->trace);
    else if (!status && hs_trace_notes(agreement->comm->trace))
        note_wait(agreement);
    /* a rank that blocks in MPI gets here rarely, so it looks every time */
    if (!status && !*done && (++agreement->polls % POLLS_BETWEEN_LOOKS == 0 || agreement->comm->block))
        status = look_around(agreement);
    return status ? fail(agreement, status) : HSUMMA_OK;
}

struct hs_verdict hs_agree(struct hs_agreement *agreement, struct hs_vote mine)
{
    hsumma_status status = hs_agreement_start(agreement, mine);
    if (!status)
        status = hs_comm_wait(agreement->comm, hs_agreement_advance, agreement);
    if (!status)
        return hs_agreement_verdict(agreement);
    mine.status = status;
    return hs_verdict_alone(mine, agreement->comm->rank);
}
