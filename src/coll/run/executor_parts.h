/* Internal declarations of the executors: states of steps, the ranks of peers, addresses, messages. */
#ifndef HS_COLL_RUN_EXECUTOR_PARTS_H
#define HS_COLL_RUN_EXECUTOR_PARTS_H

#include "coll/run/executor.h"

enum { HS_STEP_WAITING, HS_STEP_UNDER_WAY, HS_STEP_DONE };
enum { HS_STEP_WINDOW = 64 }; /* number of steps considered, from the first unfinished one on */

/* Translates `peer`, a rank in the list's numbering, to the rank in the communicator. */
static inline int hs_rank_of(const struct hs_instance *instance, int peer)
{
    const struct hs_group *group = &instance->bound.group;
    return hs_group_rank(group, (peer + instance->bound.rotation) % group->size);
}

static inline int hs_member_of(const struct hs_instance *instance, int peer)
{
    return hs_place_in_part(instance->bound.shm->node, hs_rank_of(instance, peer));
}

static inline int hs_deps_done(const struct hs_instance *instance, const struct hs_step *step)
{
    for (int i = 0; i < step->deps; i++)
        if (instance->state[instance->bound.list->dep[step->first_dep + i]] != HS_STEP_DONE)
            return 0;
    return 1;
}

static inline void hs_step_finish(struct hs_instance *instance, int index)
{
    instance->state[index] = HS_STEP_DONE;
    instance->left--;
}

/* The address of `ref` in this process; NULL for a peer's IN or OUT (hs_shm_read), and for an absent buffer. */
char *hs_address(const struct hs_instance *instance, struct hs_ref ref);
/* Posts the next piece of a SEND or RECV, or an MPI collective. */
hsumma_status hs_post_step(struct hs_instance *instance, int index);
/* Collects the messages that MPI has completed, and posts the next piece of steps that have further pieces. */
hsumma_status hs_collect_messages(struct hs_instance *instance, int *worked);

#endif
