#include "coll/steps.h"

#include <limits.h>
#include <string.h>

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory)
{
    *builder = (struct hs_builder){.memory = memory};
}

void hs_builder_fail(struct hs_builder *builder, hsumma_status status)
{
    if (!builder->failed)
        builder->failed = (int)status;
}

/* The builder goes on after a failure, so that builders need not look at it. */
static int fail(struct hs_builder *builder, hsumma_status status)
{
    hs_builder_fail(builder, status);
    return -1;
}

static void touch(struct hs_list *list, struct hs_ref ref, int64_t count)
{
    if (ref.of == 0 && ref.at + count > list->extent[ref.slot])
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
    unsigned touches = hs_step_touches(step.kind);
    if (touches & HS_TOUCHES_DST)
        touch(list, step.dst, step.count);
    if (touches & HS_TOUCHES_LEFT)
        touch(list, step.left, step.count);
    if (touches & HS_TOUCHES_RIGHT)
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

int hs_emit_signal(struct hs_builder *builder, int64_t value)
{
    if (value < 1 || value > HS_SIGNAL_MAX)
        return fail(builder, HSUMMA_ERR_INTERNAL);
    return emit(builder, (struct hs_step){.kind = HS_SIGNAL, .peer = -1, .count = value});
}

int hs_emit_wait(struct hs_builder *builder, int peer, int64_t value)
{
    if (value < 1 || value > HS_SIGNAL_MAX)
        return fail(builder, HSUMMA_ERR_INTERNAL);
    return emit(builder, (struct hs_step){.kind = HS_WAIT, .peer = peer, .count = value});
}

int hs_emit_join(struct hs_builder *builder)
{
    return emit(builder, (struct hs_step){.kind = HS_JOIN, .peer = -1, .count = 1});
}

/* `count` bytes of the vector from byte `at` on, by MPI: which places that means depends on the collective. */
int hs_emit_mpi(struct hs_builder *builder, int root, int64_t at, int64_t count)
{
    struct hs_step step = {.kind = HS_MPI, .peer = root, .dst = hs_out(at), .left = hs_in(at), .count = count};
    return emit(builder, step);
}

void hs_expose(struct hs_builder *builder)
{
    builder->list.exposed = 1;
}

/* A block of hs_builder_get: the link to the one before stands in front of the memory. */
void *hs_builder_get(struct hs_builder *builder, size_t count, size_t size)
{
    size_t head = HS_ALIGN, bytes = count * size;
    char *block = size && count > (SIZE_MAX - head) / size ? NULL : hs_get_zero(builder->memory, 1, head + bytes);
    if (!block) {
        hs_builder_fail(builder, HSUMMA_ERR_MEMORY);
        return NULL;
    }
    memcpy(block, &builder->room, sizeof builder->room);
    builder->room = block;
    return block + head;
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
    while (builder->room) {
        void *block = builder->room;
        memcpy(&builder->room, block, sizeof builder->room);
        hs_put(builder->memory, block);
    }
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
