#include "coll/pattern/embed.h"

#include <string.h>

struct embedding {
    struct hs_builder *builder;
    const struct hs_embedding *how;
    int size, rotation;
};

/* The outer rank of a (possibly rotated) rank of the inner list. */
static int outer_rank(const struct embedding *e, int rank)
{
    int inner = (rank + e->rotation) % e->size;
    return e->how->rank ? e->how->rank[inner] : inner;
}

static struct hs_ref outer_ref(const struct embedding *e, struct hs_ref ref)
{
    struct hs_ref base = ref.slot == HS_IN       ? e->how->in
                         : ref.slot == HS_OUT    ? e->how->out
                         : ref.slot == HS_SHARED ? hs_shared(e->how->shared)
                                                 : hs_scratch(e->how->scratch);
    if (ref.of == 0)
        return hs_plus(base, ref.at);
    if (base.of || base.slot == HS_SCRATCH) /* peers' memory that the outer list cannot address */
        hs_builder_fail(e->builder, HSUMMA_ERR_INTERNAL);
    return hs_of(outer_rank(e, ref.of - 1), hs_plus(base, ref.at));
}

/* Adds a joint of the inner list to the outer list, and returns its index there. */
static int outer_joint(const struct embedding *e, const struct hs_joint *inner)
{
    struct hs_joint joint = *inner;
    if (inner->rank || e->how->rank)
        joint.rank = hs_builder_get(e->builder, (size_t)inner->size, sizeof *joint.rank);
    for (int i = 0; joint.rank && i < joint.size; i++)
        joint.rank[i] = outer_rank(e, hs_joint_rank(inner, i));
    return hs_add_joint(e->builder, &joint);
}

static int append(const struct embedding *e, const struct hs_list *list, const struct hs_step *step)
{
    unsigned touches = hs_step_touches(step);
    int flag = step->kind == HS_SIGNAL || step->kind == HS_WAIT, peer = step->peer;
    if (step->kind == HS_MPI)
        peer = outer_joint(e, &list->joint[step->peer]);
    else if (hs_peer_is_rank(step->kind) && step->peer >= 0)
        peer = outer_rank(e, step->peer);
    return hs_emit_step(e->builder, step->kind, peer, touches & HS_TOUCHES_DST ? outer_ref(e, step->dst) : step->dst,
                        touches & HS_TOUCHES_LEFT ? outer_ref(e, step->left) : step->left,
                        touches & HS_TOUCHES_RIGHT ? outer_ref(e, step->right) : step->right,
                        step->count + (flag ? e->how->signal : 0));
}

void hs_interleave(struct hs_builder *builder, const int *begin, int parts, int *step)
{
    struct hs_list *list = &builder->list;
    int steps = begin[parts] - begin[0], done = 0;
    if (builder->failed || steps == 0)
        return;
    struct hs_step *old = hs_builder_get(builder, (size_t)steps, sizeof *old);
    int *moved = hs_builder_get(builder, (size_t)steps, sizeof *moved);
    if (!old || !moved)
        return;
    memcpy(old, list->step + begin[0], (size_t)steps * sizeof *old);
    for (int turn = 0; done < steps; turn++)
        for (int i = 0; i < parts; i++)
            if (turn < begin[i + 1] - begin[i]) {
                int from = begin[i] - begin[0] + turn;
                moved[from] = begin[0] + done;
                list->step[begin[0] + done++] = old[from];
            }
    for (int s = 0; s < steps; s++)
        for (int d = 0; d < old[s].deps; d++) {
            int *dep = &list->dep[old[s].first_dep + d];
            *dep = *dep >= begin[0] ? moved[*dep - begin[0]] : *dep;
        }
    for (int i = 0; i < parts; i++)
        step[i] = step[i] >= begin[0] ? moved[step[i] - begin[0]] : step[i];
}

int hs_embed(struct hs_builder *builder, const struct hs_alg *alg, const struct hs_shape *inner,
             const struct hs_embedding *embedding, int64_t *scratch)
{
    struct hs_list list;
    struct embedding e = {builder, embedding, inner->size, hs_rotation(alg, inner)};
    struct hs_shape mine = *inner;
    mine.rank = (inner->rank - e.rotation + inner->size) % inner->size;
    if (e.rotation)
        mine.root = 0;
    hsumma_status status = hs_build(alg, &mine, builder->memory, &list);
    if (status)
        hs_builder_fail(builder, status);
    if (scratch)
        *scratch = embedding->scratch + list.extent[HS_SCRATCH];

    int *place = hs_builder_get(builder, (size_t)list.steps + 1, 2 * sizeof *place), *used = place + list.steps;
    int last = embedding->after;
    for (int i = 0; place && i < list.steps; i++)
        for (int d = 0; d < list.step[i].deps; d++)
            used[list.dep[list.step[i].first_dep + d]] = 1;
    for (int i = 0; place && i < list.steps && !builder->failed; i++) {
        place[i] = last = append(&e, &list, &list.step[i]);
        if (list.step[i].deps == 0)
            hs_after(builder, last, embedding->after);
        for (int d = 0; d < list.step[i].deps; d++)
            hs_after(builder, last, place[list.dep[list.step[i].first_dep + d]]);
    }
    int ends = 0;
    for (int i = 0; place && i < list.steps; i++)
        ends += !used[i];
    if (ends > 1 && !builder->failed) {
        last = hs_emit_join(builder);
        for (int i = 0; i < list.steps; i++)
            if (!used[i])
                hs_after(builder, last, place[i]);
    }
    if (list.exposed & 1u << HS_IN)
        hs_expose_slot(builder, embedding->in.slot);
    if (list.exposed & 1u << HS_OUT)
        hs_expose_slot(builder, embedding->out.slot);
    hs_list_free(builder->memory, &list);
    return last;
}
