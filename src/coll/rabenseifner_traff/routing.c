/*
 * One level of the routing phase: members have the result for their pieces after the level, and obtain the result for
 * their pieces before the level, as far as they need it. A RECV overwrites bytes that the level's SENDs of the
 * reduction phase read, so the RECV depends on these SENDs.
 */
#include "coll/rabenseifner_traff/rt.h"

static int receive(struct rt_state *state, const struct rt_visit *visit, int peer, int64_t lo, int64_t hi)
{
    return hs_emit_recv(state->builder, peer, hs_plus(state->work, lo), hi - lo, visit->sent);
}

static void give(struct rt_state *state, int peer, int64_t lo, int64_t hi)
{
    rt_send(state, peer, hs_plus(state->work, lo), hi - lo, state->have);
}

/* Sets state->have to a step after the previous result and the first `receives` RECVs in state->got. */
static void meet(struct rt_state *state, int receives)
{
    struct hs_builder *builder = state->builder;
    int met = state->have, steps = met >= 0;

    for (int i = 0; i < receives; i++)
        if (state->got[i] >= 0) {
            met = state->got[i];
            steps++;
        }
    if (steps > 1) {
        met = hs_emit_join(builder);
        hs_after(builder, met, state->have);
        for (int i = 0; i < receives; i++)
            hs_after(builder, met, state->got[i]);
    }
    state->have = met;
}

/* Allgather of the cuts, which are received in place; for exchanges in pairs and rings of three. */
static void gather_directly(struct rt_state *state, const struct rt_visit *visit)
{
    const struct hs_shape *shape = state->shape;
    int size = visit->size, me = visit->place;

    for (int d = 1; d < size; d++) {
        int from = (me + size - d) % size;
        give(state, rt_mate(state->plan, visit, (me + d) % size), rt_cut_at(shape, visit, me),
             rt_cut_at(shape, visit, me + 1));
        state->got[d - 1] = receive(state, visit, rt_mate(state->plan, visit, from), rt_cut_at(shape, visit, from),
                                    rt_cut_at(shape, visit, from + 1));
    }
    if (size == 2)
        /* The RECV alone suffices, because this SEND depends on the previous `have`, and the next SEND on this one. */
        state->have = state->got[0];
    else
        meet(state, size - 1);
}

/* Bruck's allgather of the cuts. Blocks are in ring order from this rank's own on; two copies put them in place. */
static void gather_by_bruck(struct rt_state *state, const struct rt_visit *visit)
{
    struct hs_builder *builder = state->builder;
    const struct hs_shape *shape = state->shape;
    int size = visit->size, me = visit->place, turn;
    struct hs_ref area = rt_take(state, &turn);
    int64_t *offset = hs_builder_get(builder, (size_t)size + 1, sizeof *offset);
    int64_t begin = rt_cut_at(shape, visit, me), end = rt_cut_at(shape, visit, me + 1);

    if (!offset)
        return;
    for (int i = 0; i < size; i++) {
        int block = (me + i) % size;
        offset[i + 1] = offset[i] + rt_cut_at(shape, visit, block + 1) - rt_cut_at(shape, visit, block);
    }
    int own = hs_emit_copy(builder, area, hs_plus(state->work, begin), end - begin, state->have);
    hs_after(builder, own, state->sent); /* `sent` depends on steps on which `have` does not: see gather_directly */
    hs_after(builder, own, state->area_free[turn]);
    int rounds = rt_bruck(state, visit, area, state->area_free[turn], offset, own);
    const int64_t to[] = {end, visit->lo}, from[] = {offset[1], offset[size - me]};
    const int64_t count[] = {visit->hi - end, begin - visit->lo};
    for (int i = 0; i < 2; i++) {
        int copy = hs_emit_copy(builder, hs_plus(state->work, to[i]), hs_plus(area, from[i]), count[i], -1);
        for (int r = 0; r < rounds; r++)
            hs_after(builder, copy, state->got[r]);
        /* `sent` depends on all earlier SENDs, some of which read bytes of `work` that this copy overwrites */
        hs_after(builder, copy, state->sent);
        hs_after(builder, copy, i == 1 ? state->have : -1);
        if (copy >= 0)
            state->have = copy;
    }
    state->area_free[turn] = state->have;
}

/* Reverses a 3-2 elimination. The first has no free round: the third forwards the first's cut to the second. */
static void return_32(struct rt_state *state, const struct rt_visit *visit)
{
    int64_t lo = visit->lo, middle = rt_cut_at(state->shape, visit, 1), hi = visit->hi;
    int first = rt_mate(state->plan, visit, 0), second = rt_mate(state->plan, visit, 1);
    int third = rt_mate(state->plan, visit, 2);

    if (visit->place == 0) {
        give(state, third, lo, middle);
        state->have = receive(state, visit, second, middle, hi);
    } else if (visit->place == 1) {
        give(state, first, middle, hi);
        give(state, third, middle, hi);
        state->have = receive(state, visit, third, lo, middle);
    } else {
        state->have = receive(state, visit, first, lo, middle);
        int rest = receive(state, visit, second, middle, hi);
        give(state, second, lo, middle);
        state->have = rest;
    }
}

/* Sends the undivided result to the member that became inactive: from the second of three, or the first of two. */
static void return_whole(struct rt_state *state, const struct rt_visit *visit)
{
    int last = visit->size - 1;
    if (visit->place == last)
        state->have = receive(state, visit, rt_mate(state->plan, visit, last - 1), visit->lo, visit->hi);
    else if (visit->place == last - 1)
        give(state, rt_mate(state->plan, visit, last), visit->lo, visit->hi);
}

struct range {
    int64_t lo, hi;
};

/* The range of the result that the ranks of group `place` of the cluster need. */
static struct range need(const struct rt_state *state, const struct rt_visit *visit, int place)
{
    const struct hs_shape *shape = state->shape;
    int first = rt_rank(state->plan, visit->z, visit->first + place, 0);
    int end = rt_rank(state->plan, visit->z, visit->first + place + 1, 0);

    if (state->collective == HS_REDUCE_SCATTER)
        return (struct range){hs_part_at(shape, first), hs_part_at(shape, end)};
    return (struct range){0, first <= shape->root && shape->root < end ? shape->bytes : 0};
}

/* What group `from` of the cluster sends to group `to`: the bytes that it needs but lacks; lo >= hi if none. */
static struct range due(const struct rt_state *state, const struct rt_visit *visit, int from, int to)
{
    struct range range = need(state, visit, to), none = {0, 0};
    int last = visit->size - 1;
    int64_t lo = visit->lo, hi = visit->hi;

    if (visit->cut) {
        if (visit->step == RT_32 && from == 2)
            return none;
        lo = rt_cut_at(state->shape, visit, from);
        hi = rt_cut_at(state->shape, visit, from + 1);
    } else if (visit->step == RT_RING || to != last || from != last - 1) {
        return none;
    }
    range.lo = range.lo > lo ? range.lo : lo;
    range.hi = range.hi < hi ? range.hi : hi;
    return range.lo < range.hi ? range : none;
}

/* Each member sends every other member of the cluster the bytes that the ranks of the other's group need. */
static void route_needs(struct rt_state *state, const struct rt_visit *visit)
{
    int size = visit->size, me = visit->place;

    if (rt_leaves(visit))
        state->have = -1; /* this rank became inactive on this level, so it has no result yet */
    for (int d = 1; d < size; d++) {
        int to = (me + d) % size, from = (me + size - d) % size;
        struct range out = due(state, visit, me, to), in = due(state, visit, from, me);
        give(state, rt_mate(state->plan, visit, to), out.lo, out.hi);
        state->got[d - 1] = receive(state, visit, rt_mate(state->plan, visit, from), in.lo, in.hi);
    }
    meet(state, size - 1);
}

void rt_route_level(struct rt_state *state, const struct rt_visit *visit)
{
    if (visit->step == RT_PASS)
        return;
    if (state->collective != HS_ALLREDUCE)
        route_needs(state, visit);
    else if (!visit->cut && visit->step != RT_RING)
        return_whole(state, visit);
    else if (visit->cut && visit->step == RT_32)
        return_32(state, visit);
    else if (visit->cut && visit->size <= 3)
        gather_directly(state, visit);
    else if (visit->cut)
        gather_by_bruck(state, visit);
}
