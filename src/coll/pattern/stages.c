#include "coll/pattern/stages.h"

#include "coll/pattern/pipeline.h"
#include "coll/schedule/rows.h"

static const struct hs_alg *fitting(const struct hs_alg *alg, const struct hs_shape *stage)
{
    int parts = alg && (alg->collective == HS_ALLGATHER || alg->collective == HS_REDUCE_SCATTER);
    return alg && !(alg->flags & HS_BY_MPI && parts) && !(alg->flags & HS_EXACT_SUMS) && !hs_alg_unfit(alg, stage)
               ? alg
               : NULL;
}

static const struct hs_alg *given(const struct hs_stage *stage, const struct hs_shape *shape)
{
    return stage->between ? shape->with.outer : shape->with.inner;
}

/* The row for the stage's collective that has the name the caller gave; NULL if there is none or it does not fit. */
static const struct hs_alg *named(const struct hs_stage *stage, const struct hs_shape *shape)
{
    const struct hs_alg *alg = given(stage, shape);
    if (alg && alg->collective != stage->collective)
        alg = hs_alg_find(stage->collective, alg->name);
    return fitting(alg, shape);
}

/* Chooses the row of a stage; NULL if the caller named "mpi" or a function's row, which cannot perform it. */
static const struct hs_alg *row_of(const struct hs_stage *stage, const struct hs_shape *shape)
{
    const struct hs_alg *alg = named(stage, shape);
    if (!alg && given(stage, shape) && given(stage, shape)->flags & HS_BY_MPI)
        return NULL;
    /* elimination_32: undivided up to b bytes, as recursive doubling; always bracketed alike, as dpml requires */
    if (!alg && stage->between && stage->collective == HS_ALLREDUCE)
        alg = &hs_alg_allreduce_elimination_32;
    if (!alg && !stage->between && shape->topology && shape->topology->shared_bytes > 0)
        alg = fitting(hs_alg_shared(stage->collective), shape);
    return alg ? alg : hs_alg_safe(stage->collective);
}

int hs_emit_both(struct hs_builder *builder, int a, int b)
{
    if (a < 0 || b < 0 || a == b)
        return a > b ? a : b;
    int both = hs_emit_join(builder);
    hs_after(builder, both, a);
    hs_after(builder, both, b);
    return both;
}

/*
 * The bytes of SHARED for each of `stages` stages: an equal share of the limit, but at most what a stage can use, which
 * is two slots with a place of the whole vector for every rank and one for the sum. This maximum keeps the offsets of
 * later stages, and therefore memory that grows on demand, independent of the limit.
 */
static int64_t share_of(const struct hs_shape *shape, int stages)
{
    int64_t grain = HS_CACHE_LINE % shape->unit ? HS_CACHE_LINE * shape->unit : HS_CACHE_LINE;
    if (!shape->topology || !stages)
        return 0;
    int64_t enough = hs_bytes_of(hs_place_bytes(shape->bytes, shape->unit), HS_PIPE_SLOTS, shape->size + 1);
    return hs_min(shape->topology->shared_bytes / stages, enough) / grain * grain;
}

/* Emits a stage of one rank, whose contribution is the result. */
static int emit_alone(struct hs_builder *builder, const struct hs_stage *stage)
{
    if (stage->collective == HS_BCAST || hs_same_ref(stage->in, stage->out))
        return stage->after;
    int copy = hs_emit_copy(builder, stage->out, stage->in, stage->bytes, stage->after);
    return copy < 0 ? stage->after : copy;
}

/* Sets *inner to the shape of a stage, and *topology to its topology or NULL. Returns 0 if memory is exhausted. */
static int shape_of(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage,
                    struct hs_shape *inner, struct hs_topology **topology)
{
    int64_t shared_bytes = share_of(shape, stage->stages);
    *topology = NULL;
    *inner = (struct hs_shape){.rank = stage->me,
                               .size = stage->size,
                               .root = stage->root,
                               .bytes = stage->bytes,
                               .unit = shape->unit,
                               .segment = shape->segment,
                               .part = stage->part,
                               .with = shape->with};
    /* Leaders of nodes share no memory; leaders of sockets may. */
    if (!shape->topology || (stage->between && shape->with.level == HS_NODE))
        return 1;
    *topology = hs_topology_of(builder, shape->topology, stage->rank, stage->size, shared_bytes);
    if (!*topology)
        return 0;
    (*topology)->direct = (*topology)->direct && stage->direct && shared_bytes > 0;
    inner->topology = *topology;
    return 1;
}

int hs_stage_is_named(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage)
{
    struct hs_topology *topology;
    struct hs_shape inner;
    if (stage->size < 2 || !shape_of(builder, shape, stage, &inner, &topology))
        return 0;
    return named(stage, &inner) != NULL;
}

int hs_emit_stage(struct hs_builder *builder, const struct hs_shape *shape, const struct hs_stage *stage,
                  int64_t *scratch)
{
    struct hs_topology *topology;
    struct hs_shape inner;
    if (stage->me < 0 || builder->failed)
        return stage->after;
    if (stage->size == 1)
        return emit_alone(builder, stage);
    if (!shape_of(builder, shape, stage, &inner, &topology))
        return -1;
    const struct hs_alg *alg = row_of(stage, &inner);
    if (!alg) {
        hs_builder_fail(builder, HSUMMA_ERR_UNSUPPORTED);
        return -1;
    }
    inner.with = (struct hs_parameters){.threshold = shape->with.threshold};
    if (topology && alg->flags & (HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER))
        topology->shared_bytes = topology->direct = 0; /* the row's own stages would use the signal values of this
                                                          list's next stages */
    struct hs_embedding embedding = {.rank = stage->rank,
                                     .in = stage->in,
                                     .out = stage->out,
                                     .scratch = *scratch,
                                     .shared = stage->number * share_of(shape, stage->stages),
                                     .signal = (int64_t)stage->number * HS_STAGE_SIGNALS,
                                     .after = stage->after};
    return hs_embed(builder, alg, &inner, &embedding, scratch);
}

struct hs_two_levels hs_two_levels(struct hs_builder *builder, const struct hs_shape *shape)
{
    const struct hs_topology *topology =
        shape->topology ? shape->topology : hs_topology_of(builder, NULL, NULL, shape->size, 0);
    struct hs_two_levels levels = {.leads = -1};
    if (!topology)
        return levels;
    const struct hs_division *division = levels.division = &topology->division[shape->with.level];
    int *leader = hs_builder_get(builder, (size_t)division->parts, sizeof *leader);
    levels.leader = leader;
    levels.node = hs_part_of(division, shape->rank);
    levels.member = hs_part_ranks(builder, division, levels.node);
    if (!leader || !levels.member)
        return levels;
    levels.nodes = division->parts;
    for (int i = 0; i < levels.nodes; i++)
        leader[i] = hs_part_rank(division, i, 0);
    levels.root_node = hs_part_of(division, shape->root);
    leader[levels.root_node] = shape->root;
    levels.members = hs_division_size(division, levels.node);
    levels.me = hs_place_in_part(division, shape->rank);
    levels.leader_place = hs_place_in_part(division, leader[levels.node]);
    if (shape->rank == leader[levels.node])
        levels.leads = levels.node;
    return levels;
}

struct hs_stage hs_stage_inside(const struct hs_two_levels *on, const struct hs_shape *shape,
                                enum hs_collective collective)
{
    return (struct hs_stage){.collective = collective,
                             .rank = on->member,
                             .size = on->members,
                             .me = on->me,
                             .root = on->leader_place,
                             .bytes = shape->bytes,
                             .after = -1};
}

struct hs_stage hs_stage_between(const struct hs_two_levels *on, const struct hs_shape *shape,
                                 enum hs_collective collective)
{
    return (struct hs_stage){.collective = collective,
                             .between = 1,
                             .rank = on->leader,
                             .size = on->nodes,
                             .me = on->leads,
                             .root = on->root_node,
                             .bytes = shape->bytes,
                             .after = -1};
}
