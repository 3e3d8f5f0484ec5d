/*
 * The exchange's lists, executed strictly in order with rendezvous sends: they must complete even so, because an
 * executor looks only at a window of steps. Either all holders (a row of the grid) send to all takers (a column), or
 * all processes of a line change from one layout to another.
 */
#include "coll/schedule/exchange.h"
#include "dist/overlap.h"

#include "support/tap.h"

enum { MOST = 24 };

struct grid {
    int P, Q, owner, root;
};

/* The pieces of one process: 1 byte for each process on the other side. */
static int pieces(const struct grid *grid, int to_takers, struct hs_piece *piece)
{
    int count = to_takers ? grid->P : grid->Q;
    for (int i = 0; i < count; i++)
        piece[i] = (struct hs_piece){to_takers ? i * grid->Q + grid->root : grid->owner * grid->Q + i, i, 1};
    return count;
}

/* Whether rank a's next step is a SEND to b, and rank b's next step the matching RECV. */
static int meet(const struct hs_step *send, int a, const struct hs_step *recv, int b)
{
    return send->kind == HS_SEND && recv->kind == HS_RECV && send->peer == b && recv->peer == a &&
           send->count == recv->count;
}

/* Executes the lists, then frees them. Returns the number of steps left when none can proceed, plus 1 if the number of
 * messages is not `wanted`. */
static int run(struct hs_list *list, int ranks, int wanted)
{
    int next[MOST * MOST] = {0}, left = 0, moved = 1, messages = 0;
    while (moved) {
        moved = 0;
        for (int a = 0; a < ranks; a++) {
            if (next[a] == list[a].steps)
                continue;
            const struct hs_step *step = &list[a].step[next[a]];
            int b = step->kind == HS_SEND ? step->peer : a;
            if (step->kind == HS_COPY) {
                next[a]++;
                moved = 1;
            } else if (b != a && next[b] < list[b].steps && meet(step, a, &list[b].step[next[b]], b)) {
                next[a]++;
                next[b]++;
                moved = 1;
                messages++;
            }
        }
    }
    for (int a = 0; a < ranks; a++) {
        left += list[a].steps - next[a];
        hs_list_free(&hs_heap, &list[a]);
    }
    return left + (messages != wanted);
}

/* The number of faults of an exchange from holders to takers, or with `outward` from takers to holders: failed builds,
 * and what run() counts. */
static int faults(const struct grid *grid, int outward)
{
    static struct hs_list list[MOST * MOST];
    int ranks = grid->P * grid->Q, wrong = 0;
    for (int me = 0; me < ranks; me++) {
        struct hs_piece held[MOST], taken[MOST];
        int holds = me / grid->Q == grid->owner ? pieces(grid, 1, held) : 0;
        int takes = me % grid->Q == grid->root ? pieces(grid, 0, taken) : 0;
        hsumma_status status = outward ? hs_exchange_build(me, ranks, taken, takes, held, holds, &hs_heap, &list[me])
                                       : hs_exchange_build(me, ranks, held, holds, taken, takes, &hs_heap, &list[me]);
        wrong += status != HSUMMA_OK;
    }
    return wrong + run(list, ranks, ranks - 1); /* of P Q pairs, one is a process with itself */
}

/* The number of faults of an exchange in which a line of processes changes its layout. Each process is both holder and
 * taker; elements that stay are in no piece. */
static int realign_faults(const struct hs_axis *own, const struct hs_axis *want, int64_t width)
{
    static struct hs_list list[MOST];
    int ranks = own->nprocs, wrong = 0, wanted = 0;
    for (int me = 0; me < ranks; me++) {
        struct hs_piece held[MOST], taken[MOST];
        int holds = 0, takes = 0;
        int64_t out = 0, in = 0;
        for (int other = 0; other < ranks; other++) {
            int64_t gives = hs_overlap_count(own, me, want, other) * width;
            int64_t gets = hs_overlap_count(own, other, want, me) * width;
            if (gives && other != me)
                held[holds++] = (struct hs_piece){other, out, gives};
            if (gets && other != me)
                taken[takes++] = (struct hs_piece){other, in, gets};
            out += other == me ? 0 : gives;
            in += other == me ? 0 : gets;
        }
        wanted += holds;
        wrong += hs_exchange_build(me, ranks, held, holds, taken, takes, &hs_heap, &list[me]) != HSUMMA_OK;
    }
    return wrong + run(list, ranks, wanted);
}

static void test_realigned(void)
{
    static const int64_t blocks[] = {1, 2, 3, 5, 8, 40};
    int wrong = 0, tested = 0;
    for (int procs = 1; procs <= 9; procs++)
        for (int b = 0; b < 36; b++)
            for (int turn = 0; turn < procs; turn++, tested++) {
                struct hs_axis own = {60, blocks[b % 6], 1, 0, procs};
                struct hs_axis want = {60, blocks[b / 6], blocks[b / 6], turn, procs};
                wrong += realign_faults(&own, &want, 1 + b % 4);
            }
    tap_ok(wrong == 0, "and those between two layouts of one axis: %d tested, %d faults", tested, wrong);
}

/* Where all exchange with all, the i-th SENDs of all processes go to different ones, so that no receiver is crowded. */
static void test_spread(void)
{
    struct hs_list list[MOST];
    int wrong = 0;
    for (int me = 0; me < MOST; me++) {
        struct hs_piece piece[MOST];
        int count = 0;
        for (int other = 0; other < MOST; other++)
            if (other != me) {
                piece[count] = (struct hs_piece){other, count, 1};
                count++;
            }
        wrong += hs_exchange_build(me, MOST, piece, count, piece, count, &hs_heap, &list[me]) != HSUMMA_OK;
    }
    int step[MOST] = {0};
    for (int i = 0; i < MOST - 1 && !wrong; i++) {
        int taken[MOST] = {0};
        for (int me = 0; me < MOST; me++) {
            while (list[me].step[step[me]].kind != HS_SEND)
                step[me]++;
            wrong += taken[list[me].step[step[me]++].peer]++;
        }
    }
    tap_ok(run(list, MOST, MOST * (MOST - 1)) == 0 && wrong == 0, "all send to different ones at a time: %d faults",
           wrong);
}

int main(void)
{
    int wrong = 0, tested = 0;
    for (int P = 1; P <= 9; P++)
        for (int Q = 1; Q <= 9; Q++)
            for (int owner = 0; owner < P; owner++)
                for (int outward = 0; outward < 2; outward++, tested++)
                    wrong += faults(&(struct grid){P, Q, owner, owner % Q}, outward);
    tap_ok(wrong == 0, "exchanges done step by step come to an end: %d tested, %d faults", tested, wrong);
    wrong = faults(&(struct grid){23, 24, 22, 22}, 0) + faults(&(struct grid){24, 23, 23, 0}, 1);
    tap_ok(wrong == 0, "and so do large ones: %d faults", wrong);
    test_realigned();
    test_spread();
    return tap_done();
}
