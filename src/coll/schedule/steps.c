#include "coll/schedule/registry.h"

#include <limits.h>
#include <string.h>

const char *hs_kind_name(enum hs_kind kind)
{
    static const char *const names[HS_KINDS] = {"SEND",   "RECV", "COPY", "REDUCE", "EXACT",
                                                "SIGNAL", "WAIT", "JOIN", "MPI"};
    return (unsigned)kind < HS_KINDS ? names[kind] : "?";
}

void hs_list_begin(struct hs_builder *builder, const struct hs_allocator *memory)
{
    *builder = (struct hs_builder){.memory = memory, .signalled = -1};
}

void hs_builder_fail(struct hs_builder *builder, hsumma_status status)
{
    if (!builder->failed)
        builder->failed = (int)status;
}

/* Emitting after a failure is safe, so builders need not check for failures. */
static int fail(struct hs_builder *builder, hsumma_status status)
{
    hs_builder_fail(builder, status);
    return -1;
}

static void touch(struct hs_list *list, struct hs_ref ref, int64_t count)
{
    if (ref.of == 0)
        hs_raise_to(&list->extent[ref.slot], ref.at + count);
    if (ref.slot == HS_SHARED)
        hs_raise_to(&list->reach, ref.at + count);
}

/* The step is filled in place, because building it on the stack and copying it would take most of the time. */
int hs_emit_step(struct hs_builder *builder, enum hs_kind kind, int peer, struct hs_ref dst, struct hs_ref left,
                 struct hs_ref right, int64_t count)
{
    struct hs_list *list = &builder->list;
    if (builder->failed)
        return -1;
    if (count < 1 || count > HS_SIGNAL_MAX) {
        int flag = kind == HS_SIGNAL || kind == HS_WAIT;
        if (count < 0 || flag)
            return fail(builder, HSUMMA_ERR_INTERNAL);
        if (count == 0)
            return -1;
    }
    if (list->steps == INT_MAX)
        return fail(builder, HSUMMA_ERR_MEMORY);

    void *array = list->step;
    if (hs_grow(builder->memory, &array, sizeof *list->step, &builder->step_capacity, (size_t)list->steps + 1))
        return fail(builder, HSUMMA_ERR_MEMORY);
    list->step = array;
    unsigned touches = hs_kind_touches(kind, dst, left);
    if (touches & HS_TOUCHES_DST)
        touch(list, dst, count);
    if (touches & HS_TOUCHES_LEFT)
        touch(list, left, hs_left_bytes(kind, peer, count));
    if (touches & HS_TOUCHES_RIGHT)
        touch(list, right, count);
    struct hs_step *step = &list->step[list->steps];
    step->kind = kind;
    step->peer = peer;
    step->dst = dst;
    step->left = left;
    step->right = right;
    step->count = count;
    step->first_dep = builder->deps;
    step->deps = 0;
    builder->latest = -1;
    return list->steps++;
}

static const struct hs_ref nowhere = {HS_IN, 0, 0};

/* Appends a step that depends on `after`. */
static int emit_after(struct hs_builder *builder, enum hs_kind kind, int peer, struct hs_ref dst, struct hs_ref left,
                      struct hs_ref right, int64_t count, int after)
{
    int step = hs_emit_step(builder, kind, peer, dst, left, right, count);
    hs_after(builder, step, after);
    return step;
}

int hs_emit_send(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after)
{
    return emit_after(builder, HS_SEND, peer, nowhere, source, nowhere, count, after);
}

int hs_emit_recv(struct hs_builder *builder, int peer, struct hs_ref dst, int64_t count, int after)
{
    return emit_after(builder, HS_RECV, peer, dst, nowhere, nowhere, count, after);
}

int hs_emit_copy(struct hs_builder *builder, struct hs_ref dst, struct hs_ref source, int64_t count, int after)
{
    return emit_after(builder, HS_COPY, -1, dst, source, nowhere, count, after);
}

int hs_emit_reduce(struct hs_builder *builder, struct hs_ref dst, struct hs_ref left, struct hs_ref right,
                   int64_t count, int after)
{
    return emit_after(builder, HS_REDUCE, -1, dst, left, right, count, after);
}

int hs_emit_exact(struct hs_builder *builder, struct hs_ref dst, struct hs_ref first, int operands, int64_t count,
                  int after)
{
    return emit_after(builder, HS_EXACT, operands, dst, first, nowhere, count, after);
}

int hs_emit_signal(struct hs_builder *builder, int64_t value, int after)
{
    return emit_after(builder, HS_SIGNAL, -1, nowhere, nowhere, nowhere, value, after);
}

int hs_emit_wait(struct hs_builder *builder, int peer, int64_t value)
{
    return hs_emit_step(builder, HS_WAIT, peer, nowhere, nowhere, nowhere, value);
}

int hs_emit_join(struct hs_builder *builder)
{
    return hs_emit_step(builder, HS_JOIN, -1, nowhere, nowhere, nowhere, 1);
}

static int same_joint(const struct hs_joint *a, const struct hs_joint *b)
{
    if (a->alg != b->alg || a->size != b->size || a->root != b->root || !a->rank != !b->rank)
        return 0;
    return !a->rank || memcmp(a->rank, b->rank, (size_t)a->size * sizeof *a->rank) == 0;
}

int hs_add_joint(struct hs_builder *builder, const struct hs_joint *joint)
{
    struct hs_list *list = &builder->list;
    struct hs_joint copy = *joint;
    for (int j = 0; j < list->joints; j++)
        if (same_joint(&list->joint[j], joint))
            return j;
    void *array = list->joint;
    if (builder->failed)
        return -1;
    if (hs_grow(builder->memory, &array, sizeof copy, &builder->joint_capacity, (size_t)list->joints + 1))
        return fail(builder, HSUMMA_ERR_MEMORY);
    list->joint = array;
    if (joint->rank && !(copy.rank = hs_get(builder->memory, (size_t)joint->size, sizeof *copy.rank)))
        return fail(builder, HSUMMA_ERR_MEMORY);
    if (joint->rank)
        memcpy(copy.rank, joint->rank, (size_t)joint->size * sizeof *copy.rank);
    list->joint[list->joints] = copy;
    return list->joints++;
}

int hs_emit_mpi(struct hs_builder *builder, int rank, int size, int root, int64_t at, int64_t count)
{
    const struct hs_joint all = {.alg = builder->alg, .size = size, .root = root};
    const struct hs_ref none = {.slot = HS_SLOTS};
    enum hs_collective collective = builder->alg->collective;
    int bcast = collective == HS_BCAST, writes = bcast ? rank != root : collective != HS_REDUCE_TO || rank == root;
    struct hs_ref left = !bcast ? hs_in(at) : rank == root ? hs_out(at) : none;
    if (count == 0)
        return -1;
    return hs_emit_step(builder, HS_MPI, hs_add_joint(builder, &all), writes ? hs_out(at) : none, left, nowhere, count);
}

void hs_expose(struct hs_builder *builder)
{
    hs_expose_slot(builder, HS_IN);
    hs_expose_slot(builder, HS_OUT);
}

void hs_expose_slot(struct hs_builder *builder, enum hs_slot slot)
{
    builder->list.exposed |= 1u << slot;
}

/* Blocks form a linked list: each starts with a pointer to the previous one, and the caller's memory follows. */
void *hs_builder_get(struct hs_builder *builder, size_t count, size_t size)
{
    size_t head = HS_ALIGN, bytes = count * size;
    char *block = size && count > (SIZE_MAX - head) / size ? NULL : hs_get_zero(builder->memory, 1, head + bytes);
    if (!block) {
        hs_builder_fail(builder, HSUMMA_ERR_MEMORY);
        return NULL;
    }
    memcpy(block, &builder->blocks, sizeof builder->blocks);
    builder->blocks = block;
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
    for (int i = 0; dep <= builder->latest && i < last->deps; i++)
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
    builder->latest = dep > builder->latest ? dep : builder->latest;
    last->deps++;
}

int hs_emit_send_next(struct hs_builder *builder, int peer, struct hs_ref source, int64_t count, int after, int *sent)
{
    int send = hs_emit_send(builder, peer, source, count, after);
    hs_after(builder, send, *sent);
    *sent = send < 0 ? *sent : send;
    return send;
}

void hs_emit_signal_next(struct hs_builder *builder, int64_t value, int after, int also)
{
    int signal = hs_emit_signal(builder, value, after);
    hs_after(builder, signal, also);
    hs_after(builder, signal, builder->signalled);
    builder->signalled = signal;
}

hsumma_status hs_list_finish(struct hs_builder *builder, struct hs_list *list)
{
    hsumma_status status = (hsumma_status)builder->failed;
    while (builder->blocks) {
        void *block = builder->blocks;
        memcpy(&builder->blocks, block, sizeof builder->blocks);
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
    for (int j = 0; j < list->joints; j++)
        hs_put(memory, list->joint[j].rank);
    hs_put(memory, list->joint);
    hs_put(memory, list->step);
    hs_put(memory, list->dep);
    *list = (struct hs_list){0};
}
