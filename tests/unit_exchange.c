/*
 * The exchange's lists, done strictly one step after the other with every send a rendezvous: they have to end, for an
 * executor looks only at a window of steps.  All holders (a row of the grid) send to all takers (a column).
 */
#include "coll/exchange.h"

#include "tap.h"

enum { MOST = 24 };

struct grid {
    int P, Q, owner, root;
};

/* The pieces of one process with the other side: 1 byte each. */
static int pieces(const struct grid *grid, int to_takers, struct hs_piece *piece)
{
    int count = to_takers ? grid->P : grid->Q;
    for (int i = 0; i < count; i++)
        piece[i] = (struct hs_piece){to_takers ? i * grid->Q + grid->root : grid->owner * grid->Q + i, i, 1};
    return count;
}

/* Does rank a's next step pair with b's?  SEND and RECV that name each other. */
static int meet(const struct hs_step *send, int a, const struct hs_step *recv, int b)
{
    return send->kind == HS_SEND && recv->kind == HS_RECV && send->peer == b && recv->peer == a &&
           send->count == recv->count;
}

/* Steps left when nothing moves any more; *messages counts what was sent. */
static int run(const struct hs_list *list, int ranks, int *messages)
{
    int next[MOST * MOST] = {0}, left = 0, moved = 1;
    *messages = 0;
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
                ++*messages;
            }
        }
    }
    for (int a = 0; a < ranks; a++)
        left += list[a].steps - next[a];
    return left;
}

/* Steps left over, or messages missing, in an exchange or its way back. */
static int faults(const struct grid *grid, int outward)
{
    static struct hs_list list[MOST * MOST];
    int ranks = grid->P * grid->Q, wrong = 0, messages;
    for (int me = 0; me < ranks; me++) {
        struct hs_piece held[MOST], taken[MOST];
        int holds = me / grid->Q == grid->owner ? pieces(grid, 1, held) : 0;
        int takes = me % grid->Q == grid->root ? pieces(grid, 0, taken) : 0;
        hsumma_status status = outward ? hs_exchange_build(me, taken, takes, held, holds, &hs_heap, &list[me])
                                       : hs_exchange_build(me, held, holds, taken, takes, &hs_heap, &list[me]);
        wrong += status != HSUMMA_OK;
    }
    wrong += run(list, ranks, &messages);
    wrong += messages != ranks - 1; /* P Q pairs, one of them a process with itself */
    for (int me = 0; me < ranks; me++)
        hs_list_free(&hs_heap, &list[me]);
    return wrong;
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
    return tap_done();
}
