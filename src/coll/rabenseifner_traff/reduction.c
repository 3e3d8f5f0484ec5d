/*
 * One level of the reduction phase. Operands are received into an area of SCRATCH and combined into `work`, lower ranks
 * on the left. A step that overwrites data (an area, or a sum that is sent undivided) depends on the last step that
 * reads them.
 */
#include "coll/rabenseifner_traff/rt.h"

static int receive(struct rt_state *state, int peer, struct hs_ref dst, int64_t count, int turn)
{
    return hs_emit_recv(state->builder, peer, dst, count, state->area_free[turn]);
}

/* Emits dst = left op right, after steps `operand` and state->have, and after `sent`, the last SEND that reads dst. */
static int reduce(struct rt_state *state, struct hs_ref dst, struct hs_ref left, struct hs_ref right, int64_t count,
                  int operand, int sent)
{
    int step = hs_emit_reduce(state->builder, dst, left, right, count, operand);
    hs_after(state->builder, step, state->have);
    hs_after(state->builder, step, sent);
    return step;
}

/* The step after which the kept range of `work` may change: the last SEND that reads it, or -1. */
static int readers(const struct rt_state *state, const struct rt_visit *visit)
{
    return visit->cut || state->sum.slot == HS_IN ? -1 : state->sent; /* SENDs of a cut piece read what is not kept */
}

/*
 * Exchange within a cluster, pairwise at distance 1, 2, ...: each member sends every other member the cut that the
 * receiver keeps, or the undivided piece. Cost: (r-1) alpha + (1 - 1/r) m' (beta + gamma) for cuts, (r-1)(alpha + m'
 * beta + m' gamma) undivided. Sums are computed from left to right; partial sums of groups left of this rank's are
 * stored in the area, since `work` still contains this rank's operand.
 */
static void exchange(struct rt_state *state, const struct rt_visit *visit)
{
    const struct hs_shape *shape = state->shape;
    int size = visit->size, me = visit->place, turn;
    int64_t lo = visit->cut ? rt_cut_at(shape, visit, me) : visit->lo;
    int64_t count = (visit->cut ? rt_cut_at(shape, visit, me + 1) : visit->hi) - lo;
    struct hs_ref area = rt_take(state, &turn), own = hs_plus(state->sum, lo), work = hs_plus(state->work, lo);

    for (int d = 1; d < size; d++) {
        int to = (me + d) % size, from = (me + size - d) % size;
        int64_t at = visit->cut ? rt_cut_at(shape, visit, to) : visit->lo;
        int64_t end = visit->cut ? rt_cut_at(shape, visit, to + 1) : visit->hi;
        rt_send(state, rt_mate(state->plan, visit, to), hs_plus(state->sum, at), end - at, state->have);
        state->got[from] =
            receive(state, rt_mate(state->plan, visit, from), hs_plus(area, (from - (from > me)) * count), count, turn);
    }
    state->got[me] = -1;
    int sent = readers(state, visit);
    struct hs_ref left = me == 0 ? own : area;
    for (int i = 1; i < size; i++) {
        struct hs_ref right = i == me ? own : hs_plus(area, (i - (i > me)) * count);
        struct hs_ref dst = i < me ? area : work;
        int step = reduce(state, dst, left, right, count, state->got[i], sent);
        hs_after(state->builder, step, i == 1 ? state->got[0] : -1);
        state->have = step;
        left = dst;
    }
    state->area_free[turn] = state->have;
}

/* Exchange of undivided pieces in ceil(log2 r) rounds: each member gathers all pieces, then sums them. */
static void exchange_gathered(struct rt_state *state, const struct rt_visit *visit)
{
    struct hs_builder *builder = state->builder;
    int size = visit->size, turn;
    int64_t count = visit->hi - visit->lo;
    struct hs_ref area = rt_take(state, &turn), work = hs_plus(state->work, visit->lo);
    int64_t *offset = hs_builder_get(builder, (size_t)size + 1, sizeof *offset);

    if (!offset)
        return;
    for (int i = 0; i <= size; i++)
        offset[i] = i * count;
    int own = hs_emit_copy(builder, area, hs_plus(state->sum, visit->lo), count, state->have);
    hs_after(builder, own, state->area_free[turn]);
    int rounds = rt_bruck(state, visit, area, state->area_free[turn], offset, own);
    struct hs_ref left = hs_plus(area, offset[(size - visit->place) % size]);
    state->have = own;
    for (int i = 1; i < size; i++) {
        struct hs_ref right = hs_plus(area, offset[(i + size - visit->place) % size]);
        state->have = reduce(state, work, left, right, count, i == 1 ? state->sent : -1, -1);
        for (int r = 0; i == 1 && r < rounds; r++)
            hs_after(builder, state->have, state->got[r]);
        left = work;
    }
    state->area_free[turn] = state->have;
}

/* Receives bytes [lo, hi) from a rank on the left or right and adds them to the sum, which is then in `work`. */
static void add(struct rt_state *state, int peer, int64_t lo, int64_t hi, int from_left, int sent)
{
    int turn;
    struct hs_ref operand = rt_take(state, &turn), own = hs_plus(state->sum, lo), work = hs_plus(state->work, lo);
    int got = receive(state, peer, operand, hi - lo, turn);

    state->have = from_left ? reduce(state, work, operand, own, hi - lo, got, sent)
                            : reduce(state, work, own, operand, hi - lo, got, sent);
    state->area_free[turn] = state->have;
    state->sum = state->work;
}

/* 3-2 elimination (Section 3.1) of a piece that is cut: m0 + (m1 + m2) in two rounds of m'/2. */
static void eliminate_32(struct rt_state *state, const struct rt_visit *visit)
{
    int64_t lo = visit->lo, middle = rt_cut_at(state->shape, visit, 1), hi = visit->hi;
    int first = rt_mate(state->plan, visit, 0), second = rt_mate(state->plan, visit, 1);
    int third = rt_mate(state->plan, visit, 2);

    if (visit->place == 0) {
        rt_send(state, second, hs_plus(state->sum, middle), hi - middle, state->have);
        add(state, third, lo, middle, 0, -1);
    } else if (visit->place == 1) {
        rt_send(state, third, hs_plus(state->sum, lo), middle - lo, state->have);
        add(state, third, middle, hi, 0, -1);
        add(state, first, middle, hi, 1, -1);
    } else {
        rt_send(state, second, hs_plus(state->sum, middle), hi - middle, state->have);
        add(state, second, lo, middle, 1, -1);
        rt_send(state, first, hs_plus(state->sum, lo), middle - lo, state->have);
    }
}

/* 3-2 elimination of an undivided piece: the third group sends to the second, which exchanges with the first. */
static void eliminate_32_whole(struct rt_state *state, const struct rt_visit *visit)
{
    int first = rt_mate(state->plan, visit, 0), second = rt_mate(state->plan, visit, 1);
    int64_t count = visit->hi - visit->lo;

    if (visit->place == 1)
        add(state, rt_mate(state->plan, visit, 2), visit->lo, visit->hi, 0, -1);
    rt_send(state, visit->place == 1 ? first : second, hs_plus(state->sum, visit->lo), count, state->have);
    if (visit->place < 2)
        add(state, visit->place == 1 ? first : second, visit->lo, visit->hi, visit->place == 1, readers(state, visit));
}

/* 2-1 elimination: the second group sends its piece, which the first adds. */
static void eliminate_21(struct rt_state *state, const struct rt_visit *visit)
{
    int mate = rt_mate(state->plan, visit, 1 - visit->place);

    if (visit->place == 1)
        rt_send(state, mate, hs_plus(state->sum, visit->lo), visit->hi - visit->lo, state->have);
    else
        add(state, mate, visit->lo, visit->hi, 0, -1);
}

void rt_reduce_level(struct rt_state *state, struct rt_visit *visit)
{
    if (visit->step == RT_RING && (visit->cut || visit->size <= 3))
        exchange(state, visit);
    else if (visit->step == RT_RING)
        exchange_gathered(state, visit);
    else if (visit->step == RT_32 && visit->cut)
        eliminate_32(state, visit);
    else if (visit->step == RT_32)
        eliminate_32_whole(state, visit);
    else if (visit->step == RT_21)
        eliminate_21(state, visit);
    if (visit->step != RT_PASS)
        state->sum = state->work;
    visit->sent = state->sent;
}
