/* Algorithms that the user registers: rows of the registry with the user's builder, and the calls that append steps. */
#include "api/context_parts.h"
#include "base/options.h"
#include "coll/proof/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A registered row; its hs_alg.own points to this. */
struct own {
    struct hs_alg alg;
    struct hs_performer performer;
    hsumma_algorithm theirs; /* its strings follow this structure in memory */
};

/* The arrays of a public shape of `size` ranks. */
struct shape_arrays {
    int64_t *part; /* size + 1 entries: the offset of each rank's part, in bytes */
    int *node;     /* size entries: the node of each rank */
};

static hsumma_shape public_shape(const struct hs_alg *alg, const struct hs_shape *shape,
                                 const struct shape_arrays *arrays)
{
    int rooted = alg->collective == HS_BCAST || alg->collective == HS_REDUCE_TO;
    /* without HS_TRUE_ROOT ranks are rotated, and a builder cannot know their nodes */
    const struct hs_topology *topology = rooted && !(alg->flags & HS_TRUE_ROOT) ? NULL : shape->topology;
    for (int r = 0; r <= shape->size; r++)
        arrays->part[r] = hs_part_at(shape, r);
    for (int r = 0; r < shape->size; r++)
        arrays->node[r] = topology ? hs_part_of(&topology->division[HS_NODE], r) : r;
    return (hsumma_shape){.rank = shape->rank,
                          .size = shape->size,
                          .root = shape->root,
                          .bytes = shape->bytes,
                          .unit = shape->unit,
                          .segment = shape->segment,
                          .part = arrays->part,
                          .nodes = topology ? topology->division[HS_NODE].parts : shape->size,
                          .node = arrays->node};
}

static const char *unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    const struct own *own = alg->own;
    if (!own->theirs.unfit)
        return NULL;
    struct shape_arrays arrays = {hs_get(&hs_heap, (size_t)shape->size + 1, sizeof *arrays.part),
                                  hs_get(&hs_heap, (size_t)shape->size, sizeof *arrays.node)};
    const char *why = "no memory";
    if (arrays.part && arrays.node) {
        hsumma_shape theirs = public_shape(alg, shape, &arrays);
        why = own->theirs.unfit(&theirs, own->theirs.state);
    }
    hs_put(&hs_heap, arrays.part);
    hs_put(&hs_heap, arrays.node);
    return why;
}

/* 1 if a list is safe to run: it stays inside the buffers, does not write to IN, names only other ranks of the group as
 * peers, and reduces whole elements. */
static int is_safe(const struct hs_builder *builder, const struct hs_shape *shape)
{
    const struct hs_list *list = &builder->list;
    for (int i = 0; i < list->steps; i++) {
        const struct hs_step *step = &list->step[i];
        const struct hs_ref *ref[] = {&step->dst, &step->left, &step->right};
        unsigned touches = hs_step_touches(step);
        if ((step->kind == HS_SEND || step->kind == HS_RECV) &&
            (step->peer < 0 || step->peer >= shape->size || step->peer == shape->rank))
            return 0;
        if (touches & HS_TOUCHES_DST && step->dst.slot == HS_IN)
            return 0;
        for (int j = 0; j < 3; j++)
            if (touches & 1u << j && (ref[j]->at < 0 || (ref[j]->slot != HS_SCRATCH &&
                                                         ref[j]->at > hs_buffer_bytes(builder->alg->collective, shape,
                                                                                      shape->rank, ref[j]->slot) -
                                                                          step->count)))
                return 0;
        if (step->kind == HS_REDUCE && step->count % shape->unit)
            return 0;
    }
    return 1;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    const struct own *own = builder->alg->own;
    struct shape_arrays arrays = {hs_builder_get(builder, (size_t)shape->size + 1, sizeof *arrays.part),
                                  hs_builder_get(builder, (size_t)shape->size, sizeof *arrays.node)};
    if (builder->failed)
        return;
    hsumma_shape theirs = public_shape(builder->alg, shape, &arrays);
    own->theirs.build(builder, &theirs, own->theirs.state);
    if (!builder->failed && !is_safe(builder, shape))
        hs_builder_fail(builder, HSUMMA_ERR_ARGUMENT);
}

/* The list of an algorithm that a function performs: one MPI step. A single rank only copies. */
static void build_performed(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->size > 1)
        hs_emit_mpi(builder, shape->rank, shape->size, shape->root, 0, shape->bytes);
    else if (builder->alg->collective != HS_BCAST)
        hs_emit_copy(builder, hs_out(0), hs_in(0), shape->bytes, -1);
}

static struct hs_ref ref_of(hsumma_builder *builder, hsumma_place place, int64_t bytes)
{
    if ((unsigned)place.buffer > HSUMMA_SCRATCH || place.at < 0 || bytes < 0 || place.at > INT64_MAX - bytes) {
        hs_builder_fail(builder, HSUMMA_ERR_ARGUMENT);
        return hs_scratch(0);
    }
    return (struct hs_ref){.slot = place.buffer == HSUMMA_IN    ? HS_IN
                                   : place.buffer == HSUMMA_OUT ? HS_OUT
                                                                : HS_SCRATCH,
                           .at = place.at};
}

int hsumma_step_send(hsumma_builder *builder, int peer, hsumma_place from, int64_t bytes)
{
    return hs_emit_send(builder, peer, ref_of(builder, from, bytes), bytes, -1);
}

int hsumma_step_recv(hsumma_builder *builder, int peer, hsumma_place to, int64_t bytes)
{
    return hs_emit_recv(builder, peer, ref_of(builder, to, bytes), bytes, -1);
}

int hsumma_step_copy(hsumma_builder *builder, hsumma_place to, hsumma_place from, int64_t bytes)
{
    return hs_emit_copy(builder, ref_of(builder, to, bytes), ref_of(builder, from, bytes), bytes, -1);
}

int hsumma_step_reduce(hsumma_builder *builder, hsumma_place to, hsumma_place left, hsumma_place right, int64_t bytes)
{
    return hs_emit_reduce(builder, ref_of(builder, to, bytes), ref_of(builder, left, bytes),
                          ref_of(builder, right, bytes), bytes, -1);
}

void hsumma_step_after(hsumma_builder *builder, int step, int earlier)
{
    if (step >= 0 && (step != builder->list.steps - 1 || earlier >= step))
        hs_builder_fail(builder, HSUMMA_ERR_ARGUMENT);
    else
        hs_after(builder, step, earlier);
}

static unsigned flags_of(unsigned theirs)
{
    return (theirs & HSUMMA_TRUE_ROOT ? HS_TRUE_ROOT : 0) | (theirs & HSUMMA_KEEPS_ORDER ? HS_KEEPS_ORDER : 0) |
           (theirs & HSUMMA_UNIFORM ? HS_UNIFORM : 0) | HS_USES_SEGMENT;
}

static hsumma_status check(const hsumma_algorithm *theirs, struct hs_message *message)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = theirs && theirs->name ? strlen(theirs->name) : 0;
    if (length == 0 || length >= HS_NAME_TEXT || strspn(theirs->name, letters) != length ||
        strcmp(theirs->name, "auto") == 0)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "algorithm name is \"%.40s\"; expected 1 to %d letters, digits and _, and not auto",
                       length ? theirs->name : "", HS_NAME_TEXT - 1);
    if (!theirs->build == !theirs->perform)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "algorithm %s: build and perform are %s; expected one function",
                       theirs->name, theirs->build ? "both set" : "NULL");
    if ((unsigned)theirs->collective > HSUMMA_REDUCE_SCATTER)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "algorithm %s: collective is %d; expected 0 to %d", theirs->name,
                       (int)theirs->collective, HSUMMA_REDUCE_SCATTER);
    if (theirs->perform && theirs->collective > HSUMMA_ALLREDUCE)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "algorithm %s: a function cannot perform %s; expected bcast, reduce or allreduce", theirs->name,
                       hs_collective_name((enum hs_collective)theirs->collective));
    if (theirs->flags & ~(unsigned)(HSUMMA_TRUE_ROOT | HSUMMA_KEEPS_ORDER | HSUMMA_UNIFORM))
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "algorithm %s: flags are %u; expected 0 or a sum of HSUMMA_TRUE_ROOT, _KEEPS_ORDER and _UNIFORM",
                       theirs->name, theirs->flags);
    return HSUMMA_OK;
}

static void fill(struct own *own, const hsumma_algorithm *theirs, const char *name, const char *doc)
{
    own->theirs = *theirs;
    own->theirs.name = name;
    own->theirs.doc = doc;
    own->alg = (struct hs_alg){.collective = (enum hs_collective)theirs->collective,
                               .name = name,
                               .doc = doc,
                               .flags = flags_of(theirs->flags),
                               .unfit = unfit,
                               .build = build,
                               .own = own};
    if (!theirs->perform)
        return;
    own->performer = (struct hs_performer){theirs->perform, theirs->state};
    own->alg.performer = &own->performer;
    own->alg.build = build_performed;
    own->alg.flags |= HS_BY_MPI | HS_TRUE_ROOT;
}

hsumma_status hsumma_coll_register(hsumma_context *ctx, const hsumma_algorithm *theirs)
{
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    hsumma_status status = check(theirs, &ctx->message);
    if (status)
        return status;
    if (hs_alg_find_in(&ctx->own, (enum hs_collective)theirs->collective, theirs->name))
        return hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT, "%s algorithm %s exists already; expected another name",
                       hs_collective_name((enum hs_collective)theirs->collective), theirs->name);
    const char *doc = theirs->doc ? theirs->doc : "";
    size_t name_size = strlen(theirs->name) + 1, doc_size = strlen(doc) + 1;
    struct own *own = hs_get_zero(&ctx->memory, 1, sizeof *own + name_size + doc_size);
    void *array = ctx->own.row;
    if (!own || hs_grow(&ctx->memory, &array, sizeof *ctx->own.row, &ctx->own.capacity, (size_t)ctx->own.count + 1)) {
        hs_put(&ctx->memory, own);
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for an algorithm");
    }
    char *text = (char *)(own + 1);
    memcpy(text, theirs->name, name_size);
    memcpy(text + name_size, doc, doc_size);
    fill(own, theirs, text, text + name_size);
    ctx->own.row = array;
    ctx->own.row[ctx->own.count++] = &own->alg;
    return HSUMMA_OK;
}

void hs_own_algorithms_free(struct hs_registry *own, const struct hs_allocator *memory)
{
    for (int i = 0; i < own->count; i++)
        hs_put(memory, (void *)(uintptr_t)own->row[i]->own);
    hs_put(memory, own->row);
    *own = (struct hs_registry){0};
}

/* Proves one shape with each interleaving of enum hs_schedule, and with eager and rendezvous sends: one call without a
 * window, and two calls at the same time with a window of 64 steps. */
static hsumma_status prove_shape(const struct hs_alg *alg, const struct hs_shape *shape, char *text, size_t n)
{
    for (int schedule = 0; schedule < HS_SCHEDULES; schedule++)
        for (int variant = 0; variant < 4; variant++) {
            struct hs_verify_options options = {.schedule = (enum hs_schedule)schedule,
                                                .seed = 1 + (uint64_t)variant,
                                                .eager = variant & 1,
                                                .instances = 1 + (variant >> 1),
                                                .window = variant & 2 ? 64 : 0};
            struct hs_verify_report report;
            hsumma_status status = hs_verify(alg, shape, &options, &hs_heap, &report);
            if (status && text && n)
                snprintf(text, n, "%s",
                         status == HSUMMA_ERR_ARGUMENT
                             ? "a step goes beyond its buffer, writes to IN, reduces part of an element, comes after "
                               "a later step, or has no other rank of the group as its peer"
                         : report.text[0] ? report.text
                                          : hsumma_status_string(status));
            if (status)
                return status == HSUMMA_ERR_ARGUMENT ? HSUMMA_ERR_INTERNAL : status;
        }
    return HSUMMA_OK;
}

/* Fills in parts of very different sizes; the first one is empty unless it is the only one. */
static void uneven(int64_t *part, int size, int64_t bytes, int64_t unit)
{
    int64_t elements = bytes / unit;
    for (int r = 0; r <= size; r++)
        part[r] = r == size ? bytes : r < 2 ? 0 : elements * (r - 1) * (r - 1) / ((int64_t)size * size) * unit;
}

static hsumma_status prove(const struct hs_alg *alg, struct hs_shape *shape, char *text, size_t n)
{
    struct hs_topology topology;
    const char *why = hs_alg_unfit(alg, shape);
    if (why && text && n)
        snprintf(text, n, "not possible for this shape: %s", why);
    if (why)
        return HSUMMA_ERR_UNSUPPORTED;
    hsumma_status status = prove_shape(alg, shape, text, n);
    int parted = alg->collective == HS_ALLGATHER || alg->collective == HS_REDUCE_SCATTER;
    int64_t *part = parted && !status ? hs_get(&hs_heap, (size_t)shape->size + 1, sizeof *part) : NULL;
    if (parted && !status && !part)
        return HSUMMA_ERR_MEMORY;
    if (part) {
        uneven(part, shape->size, shape->bytes, shape->unit);
        shape->part = part;
        status = hs_alg_unfit(alg, shape) ? HSUMMA_OK : prove_shape(alg, shape, text, n);
        shape->part = NULL;
        hs_put(&hs_heap, part);
    }
    if (status || shape->size < 2)
        return status;
    status = hs_topology_blocks(&topology, shape->size, 2, 1, &hs_heap);
    if (status)
        return status;
    shape->topology = &topology;
    status = hs_alg_unfit(alg, shape) ? HSUMMA_OK : prove_shape(alg, shape, text, n);
    hs_topology_free(&topology, &hs_heap);
    return status;
}

hsumma_status hsumma_coll_prove(const hsumma_algorithm *theirs, int size, int root, int64_t bytes, int64_t unit,
                                char *text, size_t n)
{
    struct own own = {0};
    struct hs_message message = {""};
    hsumma_status status = check(theirs, &message);
    if (!status && (size < 1 || root < 0 || root >= size || unit < 1 || bytes < 0 || bytes % unit))
        status = hs_fail(&message, HSUMMA_ERR_ARGUMENT,
                         "size %d, root %d, bytes %" PRId64 ", unit %" PRId64
                         "; expected 0 <= root < size, unit >= 1, and bytes >= 0 and a multiple of unit",
                         size, root, bytes, unit);
    if (text && n)
        snprintf(text, n, "%s", message.text);
    if (status)
        return status;
    fill(&own, theirs, theirs->name, theirs->doc ? theirs->doc : "");
    if (theirs->perform) {
        if (text && n)
            snprintf(text, n, "algorithm %s is performed by a function, which cannot be proved", theirs->name);
        return HSUMMA_ERR_UNSUPPORTED;
    }
    struct hs_shape shape = {.size = size, .root = root, .bytes = bytes, .unit = unit};
    return prove(&own.alg, &shape, text, n);
}
