#include "coll/steps.h"

#include <limits.h>

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory)
{
    *builder = (struct hs_builder){.memory = memory};
}

/* The builder goes on after a failure, so that builders need not look at it; the first one is kept. */
static int fail(struct hs_builder *builder, hsumma_status status)
{
    if (!builder->failed)
        builder->failed = (int)status;
    return -1;
}

static void touch(struct hs_list *list, struct hs_ref ref, int64_t count)
{
    if (ref.at + count > list->extent[ref.slot])
        list->extent[ref.slot] = ref.at + count;
}

static int emit(struct hs_builder *builder, struct hs_step step)
{
    struct hs_list *list = &builder->list;
    if (step.count == 0 || builder->failed)
        return -1;
    if (step.count < 0)
        return fail(builder, HSUMMA_ERR_INTERNAL);
    if (list->steps == INT_MAX)
        return fail(builder, HSUMMA_ERR_MEMORY);

    void *array = list->step;
    if (hs_grow(builder->memory, &array, sizeof *list->step, &builder->step_capacity, (size_t)list->steps + 1))
        return fail(builder, HSUMMA_ERR_MEMORY);
    list->step = array;
    step.first_dep = builder->deps;
    if (step.kind != HS_SEND)
        touch(list, step.dst, step.count);
    if (step.kind != HS_RECV)
        touch(list, step.left, step.count);
    if (step.kind == HS_REDUCE)
        touch(list, step.right, step.count);
    list->step[list->steps] = step;
    return list->steps++;
}

int hs_emit_send(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count)
{
    return emit(builder, (struct hs_step){.kind = HS_SEND, .peer = peer, .left = source, .count = count});
}

int hs_emit_recv(struct hs_builder *builder, int peer, struct hs_ref dst, int64_t count)
{
    return emit(builder, (struct hs_step){.kind = HS_RECV, .peer = peer, .dst = dst, .count = count});
}

int hs_emit_copy(struct hs_builder *builder, struct hs_ref dst, struct hs_ref source, int64_t count)
{
    return emit(builder, (struct hs_step){.kind = HS_COPY, .peer = -1, .dst = dst, .left = source, .count = count});
}

int hs_emit_reduce(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right,
                   int64_t count)
{
    struct hs_step step = {.kind = HS_REDUCE, .peer = -1, .dst = dst, .left = left, .right = right, .count = count};
    return emit(builder, step);
}

void hs_after(struct hs_builder *builder, int step, int dep)
{
    struct hs_list *list = &builder->list;
    if (step < 0 || dep < 0 || builder->failed)
        return;
    if (step != list->steps - 1 || dep >= step) {
        fail(builder, HSUMMA_ERR_INTERNAL);
        return;
    }
    struct hs_step *last = &list->step[step];
    for (int i = 0; i < last->deps; i++)
        if (list->dep[last->first_dep + i] == dep)
            return;

    void *array = list->dep;
    if (builder->deps == INT_MAX ||
        hs_grow(builder->memory, &array, sizeof *list->dep, &builder->dep_capacity, (size_t)builder->deps + 1)) {
        fail(builder, HSUMMA_ERR_MEMORY);
        return;
    }
    list->dep = array;
    list->dep[builder->deps++] = dep;
    last->deps++;
}

hsumma_status hs_list_finish(struct hs_builder *builder, struct hs_list *list)
{
    hsumma_status status = (hsumma_status)builder->failed;
    if (status)
        hs_list_free(builder->memory, &builder->list);
    *list = builder->list;
    builder->list = (struct hs_list){0};
    return status;
}

void hs_list_free(const struct hs_allocator *memory, struct hs_list *list)
{
    hs_put(memory, list->step);
    hs_put(memory, list->dep);
    *list = (struct hs_list){0};
}
