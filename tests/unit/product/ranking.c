/* The ranking of candidates, compared with a sort of all; and the line that represents all lines of a grid axis. */
#include "base/memory.h"
#include "hsumma/search/candidate.h"
#include "support/random.h"
#include "support/tap.h"

#include <string.h>

enum { CANDIDATES = 60, KINDS = 2 * HS_RANKED, PRICES = 9 };

static struct hs_ranking ranking; /* too large for a stack */

/* The first of the cheapest candidates of a kind; -1 if there is none. */
static int best_of_kind(const int *kind, const int *price, int wanted)
{
    int best = -1;
    for (int i = 0; i < CANDIDATES; i++)
        if (kind[i] == wanted && (best < 0 || price[i] < price[best]))
            best = i;
    return best;
}

/* The expected ranking: one candidate of each kind, by ascending price; on a tie the earlier one is first. */
static int sorted(const int *kind, const int *price, int at[HS_RANKED])
{
    int count = 0;
    for (int p = 0; p < PRICES; p++)
        for (int i = 0; i < CANDIDATES && count < HS_RANKED; i++)
            if (price[i] == p && best_of_kind(kind, price, kind[i]) == i)
                at[count++] = i;
    return count;
}

static void ranks(int cases)
{
    int wrong = 0;
    for (int c = 0; c < cases; c++) {
        int kind[CANDIDATES], price[CANDIDATES], at[HS_RANKED], kinds = 1 + draw(KINDS);
        memset(&ranking, 0, sizeof ranking);
        for (int i = 0; i < CANDIDATES; i++) {
            kind[i] = draw(kinds);
            price[i] = draw(PRICES);
            /* `exchanges` identifies the candidate */
            struct hs_choice choice = {.prediction = {.seconds = 1 + price[i], .exchanges = i}};
            choice.spec.node = HS_NODE_SHARED; /* choices for a shared node differ in kind only by the width */
            choice.spec.width[0] = kind[i];
            hs_rank(&ranking, &choice);
        }
        int count = sorted(kind, price, at);
        wrong += ranking.count != count;
        for (int i = 0; i < count && i < ranking.count; i++)
            wrong += ranking.choice[i].prediction.exchanges != at[i];
    }
    tap_ok(!wrong,
           "%d drawn sequences of candidates: the best of each kind, ascending, the earlier first on a tie: %d are not",
           cases, wrong);
}

/* The number of nodes in the row that represents both rows of a 2 x 4 grid; -1 if memory is exhausted. */
static int nodes_of_rows(const int node[8])
{
    static const int rank[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct hs_grid grid = {.extent = {2, 4}, .coord = {0, 0}, .rank = rank};
    struct hs_topology topology;
    struct hs_line_table lines;
    if (hs_topology_make(&topology, 8, node, NULL, &hs_heap))
        return -1;
    int nodes = -1;
    if (!hs_line_table_init(&lines, &topology, 0, &grid, &hs_heap))
        nodes = hs_line_of(&lines, 0, &(struct hs_role){.line_axis = 1}, 1, 4).nodes;
    hs_line_table_free(&lines, &hs_heap);
    hs_topology_free(&topology, &hs_heap);
    return nodes;
}

int main(void)
{
    draw_seed(15);
    ranks(2000);
    tap_ok(nodes_of_rows((const int[]){0, 0, 0, 0, 1, 2, 3, 4}) == 4,
           "the last row spans more nodes: it stands for all");
    tap_ok(nodes_of_rows((const int[]){1, 2, 3, 3, 0, 0, 0, 0}) == 3, "so does the first");
    return tap_done();
}
