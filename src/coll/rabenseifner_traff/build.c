/* Builds the list of one rank: the levels in which it is active, its memory, and steps used in both phases. */
#include "coll/rabenseifner_traff/rt.h"

/*
 * Default b: alpha / (beta + gamma) of a present-day machine (1 us, 0.12 and 0.2 ns per byte), rounded up to a power of
 * two. At about this length, and if many rounds follow, an additional round costs as much time as halving the vector
 * saves.
 */
enum { DEFAULT_THRESHOLD = 4096 };

int rt_cuts(const struct hs_shape *shape, int64_t bytes, int ways)
{
    int64_t threshold = shape->with.threshold > 0 ? shape->with.threshold : DEFAULT_THRESHOLD;
    return bytes > threshold && bytes / shape->unit >= ways;
}

void rt_send(struct rt_state *state, int peer, struct hs_ref source, int64_t count, int after)
{
    hs_emit_send_next(state->builder, peer, source, count, after, &state->sent);
}

struct hs_ref rt_take(struct rt_state *state, int *turn)
{
    *turn = state->areas++ % 2;
    return hs_scratch(state->area[*turn]);
}

int rt_bruck(struct rt_state *state, const struct rt_visit *visit, struct hs_ref area, int free, const int64_t *offset,
             int own)
{
    struct hs_builder *builder = state->builder;
    int size = visit->size, rounds = 0, received = own;

    for (int have = 1; have < size;) {
        int blocks = have < size - have ? have : size - have;
        rt_send(state, rt_mate(state->plan, visit, (visit->place - have + size) % size), area, offset[blocks],
                received);
        received = hs_emit_recv(builder, rt_mate(state->plan, visit, (visit->place + have) % size),
                                hs_plus(area, offset[have]), offset[have + blocks] - offset[have], free);
        state->got[rounds++] = received;
        have += blocks;
    }
    return rounds;
}

/* Finds the levels in which the rank is active, and its piece in each. */
static void find_way(struct rt_state *state)
{
    const struct hs_shape *shape = state->shape;
    int group = shape->rank, index = 0;
    int64_t lo = 0, hi = shape->bytes;

    for (int z = 0; z < state->plan->levels; z++) {
        const struct rt_level *level = &state->plan->level[z];
        struct rt_visit *visit = &state->visit[state->visits++];
        *visit = (struct rt_visit){.z = z, .index = index, .lo = lo, .hi = hi, .sent = -1};
        group = rt_cluster(level, group, &visit->place);
        visit->first = rt_first(level, group);
        visit->size = rt_first(level, group + 1) - visit->first;
        visit->step = visit->size == 1              ? RT_PASS
                      : level->kind == RT_ELIMINATE ? RT_21
                      : visit->size == level->ways  ? RT_RING
                                                    : RT_32;
        visit->cut = level->kind == RT_EXCHANGE && rt_cuts(shape, hi - lo, level->ways);
        if (rt_leaves(visit))
            return;
        if (visit->cut) {
            lo = rt_cut_at(shape, visit, visit->place);
            hi = rt_cut_at(shape, visit, visit->place + 1);
        }
        index = index * level->ways + (level->kind == RT_EXCHANGE ? visit->place : 0);
    }
}

/* Bytes of a level in an area: its operands, or the blocks of Bruck's allgather in rings of more than three. */
static int64_t area_bytes(const struct hs_shape *shape, const struct rt_visit *visit)
{
    int64_t piece = visit->hi - visit->lo, ways = visit->step == RT_RING ? visit->size : 2;
    int64_t each = visit->cut ? hs_part_equal(piece, shape->unit, ways, 1) : piece;
    int64_t gathered = visit->step != RT_RING || ways <= 3 ? 0 : visit->cut ? piece : ways * piece;
    return (ways - 1) * each > gathered ? (ways - 1) * each : gathered;
}

static void lay_out(struct rt_state *state)
{
    const struct hs_shape *shape = state->shape;
    int64_t longest = 0;
    int widest = 2;

    for (int i = 0; i < state->visits; i++) {
        const struct rt_visit *visit = &state->visit[i];
        int64_t bytes = area_bytes(shape, visit);
        longest = bytes > longest ? bytes : longest;
        widest = visit->size > widest ? visit->size : widest;
    }
    int in_out = state->collective == HS_ALLREDUCE || (state->collective == HS_REDUCE_TO && shape->rank == shape->root);
    state->work = in_out ? hs_out(0) : hs_scratch(0);
    state->area[0] = in_out ? 0 : shape->bytes;
    state->area[1] = state->area[0] + longest;
    state->got = hs_builder_get(state->builder, (size_t)widest, sizeof *state->got);
}

void rt_build(struct hs_builder *builder, const struct hs_shape *shape, const struct rt_plan *plan)
{
    struct rt_state state = {.builder = builder, .shape = shape, .plan = plan, .collective = builder->alg->collective};
    find_way(&state);
    lay_out(&state);
    if (!state.got)
        return;
    state.sum = hs_in(0);
    state.have = state.sent = state.area_free[0] = state.area_free[1] = -1;
    for (int i = 0; i < state.visits; i++)
        rt_reduce_level(&state, &state.visit[i]);
    for (int i = state.visits - 1; i >= 0; i--)
        rt_route_level(&state, &state.visit[i]);
    if (state.collective == HS_REDUCE_SCATTER)
        hs_emit_copy(builder, hs_out(0), hs_plus(state.work, hs_part_at(shape, shape->rank)),
                     hs_part_bytes(shape, shape->rank), state.have);
}
