#include "coll/run/agree.h"

#include "coll/run/notice.h"
#include "coll/schedule/registry.h"

#include <string.h>

enum { POLLS_BETWEEN_NOTICES = 64 };

/* The unit of the list is a ballot. */
static void join(void *dst, const void *left, const void *right, int64_t bytes, void *state)
{
    struct hs_ballot ballot, other;
    (void)bytes, (void)state;
    memcpy(&ballot, left, sizeof ballot);
    memcpy(&other, right, sizeof other);
    hs_ballot_join(&ballot, &other);
    memcpy(dst, &ballot, sizeof ballot);
}

hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                enum hs_agreement_number number, const struct hs_allocator *memory)
{
    *agreement = (struct hs_agreement){.comm = comm, .group = *group, .tag = hs_tag(HS_CHANNEL_AGREE, number)};
    struct hs_shape shape = {
        .rank = group->me, .size = group->size, .bytes = sizeof agreement->mine, .unit = sizeof agreement->mine};
    hsumma_status status = hs_build(hs_alg_safe(HS_ALLREDUCE), &shape, memory, &agreement->list);
    if (status)
        return status;
    int steps = agreement->list.steps;
    agreement->work = hs_get(memory, 1, hs_instance_bytes(steps));
    if (!agreement->work || agreement->list.extent[HS_SCRATCH] > (int64_t)sizeof agreement->scratch) {
        status = agreement->work ? HSUMMA_ERR_INTERNAL : HSUMMA_ERR_MEMORY;
        hs_agreement_free(agreement, memory);
        return status;
    }
    hs_instance_init(&agreement->instance, agreement->work, steps);
    return HSUMMA_OK;
}

void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory)
{
    hs_list_free(memory, &agreement->list);
    hs_put(memory, agreement->work);
    agreement->work = NULL;
}

hsumma_status hs_agreement_start(struct hs_agreement *agreement, struct hs_vote mine)
{
    agreement->mine = agreement->result = hs_ballot_of(mine, agreement->comm->rank);
    if (agreement->directory) {
        agreement->met = 0;
        hs_directory_arrive(agreement->directory, &agreement->mine);
        return HSUMMA_OK;
    }
    struct hs_binding binding = {
        .list = &agreement->list,
        .group = agreement->group,
        .tag = agreement->tag,
        .slot = {[HS_IN] = &agreement->mine, [HS_OUT] = &agreement->result, [HS_SCRATCH] = agreement->scratch},
        .combine = join};
    return hs_start(&agreement->instance, agreement->comm, &binding);
}

struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement)
{
    return hs_ballot_verdict(&agreement->result);
}

/* Takes the votes of those that have arrived since the last look, in the order of the group. */
static void meet(struct hs_agreement *agreement, int *worked, int *done)
{
    const struct hs_group *group = &agreement->group;
    struct hs_ballot ballot;
    hs_directory_look(agreement->directory);
    while (agreement->met < group->size &&
           hs_directory_arrived(agreement->directory, hs_group_rank(group, agreement->met), &ballot)) {
        hs_ballot_join(&agreement->result, &ballot);
        agreement->met++;
        *worked = 1;
    }
    *done = agreement->met == group->size;
}

hsumma_status hs_agreement_advance(void *state, int *worked, int *done)
{
    struct hs_agreement *agreement = state;
    hsumma_status status = HSUMMA_OK;
    if (agreement->directory) {
        meet(agreement, worked, done);
    } else {
        status = hs_progress(&agreement->instance, worked);
        *done = !agreement->instance.active;
    }
    if (!status && !*done && ++agreement->polls % POLLS_BETWEEN_NOTICES == 0 && hs_notice_has_come(agreement->comm))
        status = HSUMMA_ERR_DEVICE; /* a member has left */
    return status;
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
