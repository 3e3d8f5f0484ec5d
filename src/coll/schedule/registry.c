#include "coll/schedule/registry.h"

#include "coll/schedule/rows.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS(symbol) &hs_alg_##symbol,
static const struct hs_alg *const algs[] = {HS_ALGS(ADDRESS)};

static const char *const collectives[HS_COLLECTIVES] = {
    [HS_BCAST] = "bcast",
    [HS_REDUCE_TO] = "reduce",
    [HS_ALLREDUCE] = "allreduce",
    [HS_ALLGATHER] = "allgather",
    [HS_REDUCE_SCATTER] = "reduce_scatter",
};

const struct hs_alg *hs_alg_at(int i)
{
    return i >= 0 && (size_t)i < sizeof algs / sizeof *algs ? algs[i] : NULL;
}

const struct hs_alg *hs_alg_at_in(const struct hs_registry *own, int i)
{
    const int built_in = (int)(sizeof algs / sizeof *algs);
    if (i < built_in || !own)
        return hs_alg_at(i);
    return i - built_in < own->count ? own->row[i - built_in] : NULL;
}

const struct hs_alg *hs_alg_find_in(const struct hs_registry *own, enum hs_collective collective, const char *name)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at_in(own, i)); i++)
        if (alg->collective == collective && strcmp(alg->name, name) == 0)
            return alg;
    return NULL;
}

const struct hs_alg *hs_alg_find(enum hs_collective collective, const char *name)
{
    return hs_alg_find_in(NULL, collective, name);
}

void hs_alg_names(const struct hs_registry *own, enum hs_collective collective, char *text, size_t size)
{
    const struct hs_alg *alg;
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; (alg = hs_alg_at_in(own, i)); i++)
        if (alg->collective == collective && used + strlen(alg->name) + 3 <= size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", alg->name);
}

const char *hs_collective_name(enum hs_collective collective)
{
    return (unsigned)collective < HS_COLLECTIVES ? collectives[collective] : "unknown collective";
}

/* Default rows, indexed by collective: `safe` serves every shape, `shared` serves ranks that share memory. */
static const struct {
    const struct hs_alg *safe, *shared;
} defaults[HS_COLLECTIVES] = {
    [HS_BCAST] = {&hs_alg_bcast_binomial, &hs_alg_bcast_shared},
    [HS_REDUCE_TO] = {&hs_alg_reduce_binomial, &hs_alg_reduce_shared},
    [HS_ALLREDUCE] = {&hs_alg_allreduce_recursive_doubling, &hs_alg_allreduce_shared},
    [HS_ALLGATHER] = {&hs_alg_allgather_ring, NULL},
    [HS_REDUCE_SCATTER] = {&hs_alg_reduce_scatter_pairwise, NULL},
};

const struct hs_alg *hs_alg_safe(enum hs_collective collective)
{
    return defaults[collective].safe;
}

const struct hs_alg *hs_alg_shared(enum hs_collective collective)
{
    return defaults[collective].shared;
}

const char *hs_alg_unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    return alg->unfit && (alg->own || shape->size > 1) ? alg->unfit(alg, shape) : NULL;
}

int hs_rotation(const struct hs_alg *alg, const struct hs_shape *shape)
{
    int rooted = alg->collective == HS_BCAST || alg->collective == HS_REDUCE_TO;
    return rooted && !(alg->flags & HS_TRUE_ROOT) ? shape->root : 0;
}

static struct hs_parameters used(const struct hs_alg *alg, const struct hs_parameters *given)
{
    struct hs_parameters with = *given;
    with.threshold = alg->flags & HS_USES_THRESHOLD ? given->threshold : 0;
    with.leaders = alg->flags & HS_USES_LEADERS ? given->leaders : 0;
    with.pieces = alg->flags & HS_USES_PIECES ? given->pieces : 0;
    with.rings = alg->flags & HS_USES_RINGS ? given->rings : 0;
    with.rest = alg->flags & HS_USES_RINGS ? given->rest : HS_REST_CHOSEN;
    with.level = alg->flags & HS_USES_LEVEL ? given->level : HS_NODE;
    with.outer = alg->flags & HS_USES_OUTER ? given->outer : NULL;
    with.inner = alg->flags & HS_USES_INNER ? given->inner : NULL;
    return with;
}

hsumma_status hs_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_list *list)
{
    struct hs_builder builder;
    *list = (struct hs_list){0};
    if (shape->size < 1 || shape->rank < 0 || shape->rank >= shape->size || shape->root < 0 ||
        shape->root >= shape->size || shape->unit < 1 || shape->bytes < 0 || shape->bytes % shape->unit ||
        shape->segment < 0)
        return HSUMMA_ERR_INTERNAL;
    if (hs_alg_unfit(alg, shape))
        return HSUMMA_ERR_UNSUPPORTED;
    struct hs_shape mine = *shape;
    mine.with = used(alg, &shape->with);
    hs_list_begin(&builder, memory);
    builder.alg = alg;
    if (alg->own || alg->flags & HS_BY_MPI || (shape->bytes > 0 && (shape->size > 1 || alg->flags & HS_EXACT_SUMS)))
        alg->build(&builder, &mine);
    else if (alg->collective != HS_BCAST)
        hs_emit_copy(&builder, hs_out(0), hs_in(0), shape->bytes, -1);
    return hs_list_finish(&builder, list);
}

int64_t hs_part_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i)
{
    const struct hs_parts equal = hs_parts_equal(bytes, unit, parts);
    return hs_parts_at(&equal, i);
}

struct hs_span hs_span_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i)
{
    const struct hs_parts equal = hs_parts_equal(bytes, unit, parts);
    return hs_parts_span(&equal, i);
}

int64_t hs_segments(const struct hs_shape *shape)
{
    enum { DEFAULT_SEGMENT = 64 * 1024, MOST_SEGMENTS = 4096 };
    int64_t elements = shape->bytes / shape->unit;
    int64_t longest = (shape->segment ? shape->segment : DEFAULT_SEGMENT) / shape->unit;
    if (longest < 1)
        longest = 1;
    int64_t segments = elements / longest + (elements % longest != 0);
    return segments < MOST_SEGMENTS ? segments : MOST_SEGMENTS;
}

int64_t hs_part_at(const struct hs_shape *shape, int i)
{
    const struct hs_parts parts = hs_parts_of(shape);
    return hs_parts_at(&parts, i);
}

int64_t hs_longest_part(const struct hs_shape *shape)
{
    int64_t longest = hs_part_bytes(shape, 0);
    for (int i = 1; shape->part && i < shape->size; i++)
        longest = longest < hs_part_bytes(shape, i) ? hs_part_bytes(shape, i) : longest;
    return longest;
}

int64_t hs_buffer_bytes(enum hs_collective collective, const struct hs_shape *shape, int rank, enum hs_slot slot)
{
    if (collective == HS_BCAST && slot == HS_IN)
        return 0;
    if (collective == HS_REDUCE_TO && slot == HS_OUT && rank != shape->root)
        return 0;
    if ((collective == HS_ALLGATHER && slot == HS_IN) || (collective == HS_REDUCE_SCATTER && slot == HS_OUT))
        return hs_part_bytes(shape, rank);
    return shape->bytes;
}
