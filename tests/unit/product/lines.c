/*
 * Resources that lines share. A node's outgoing link is priced for the traffic of all lines of the node, even if the
 * lines have unequal lengths. Exchanges that can be in flight together are priced for the panels of all owners.
 */
#include "support/product/plan_question.h"
#include "support/tap.h"

enum { NODES = 4, EACH = 4 };

/* The sharing of lines along the columns of a grid whose rows are the nodes, so a node has a process of each line. */
static double sharing_of(const struct hs_axis *want, const struct hs_grid *grid, const struct hs_topology *topology,
                         int cells)
{
    struct hs_line_table lines;
    double sharing = -1;
    if (!hs_line_table_init(&lines, topology, 0, grid, &hs_heap) && (!cells || !hs_line_table_share(&lines, &hs_heap)))
        sharing = hs_line_of(&lines, cells, &(struct hs_role){.line_axis = 0, .want = want}, 1, NODES).sharing;
    hs_line_table_free(&lines, &hs_heap);
    return sharing;
}

static void unequal_lines(int cases)
{
    int rank[NODES * EACH], wrong = 0, fewer = 0;
    struct hs_grid grid = {.extent = {NODES, EACH}, .coord = {0, 0}, .rank = rank};
    struct hs_topology topology;
    for (int i = 0; i < NODES * EACH; i++)
        rank[i] = i;
    if (hs_topology_blocks(&topology, NODES * EACH, NODES, 1, &hs_heap))
        return;
    tap_ok(sharing_of(NULL, &grid, &topology, 0) == EACH && sharing_of(NULL, &grid, &topology, 1) == EACH,
           "lines of equal length: as many as a node has");
    for (int i = 0; i < cases; i++) {
        struct hs_axis want = hs_axis_make(draw_size(1, 4000), draw_size(1, 300), draw_size(1, 300), draw(EACH), EACH);
        int64_t longest = 0;
        for (int p = 0; p < EACH; p++)
            longest = hs_axis_count(&want, p) > longest ? hs_axis_count(&want, p) : longest;
        double carried = (double)want.n / (double)longest, sharing = sharing_of(&want, &grid, &topology, i % 2);
        wrong += sharing < carried - 1e-9 || sharing > carried + 1.0 / 16 + 1e-9;
        fewer += sharing < EACH;
    }
    hs_topology_free(&topology, &hs_heap);
    tap_ok(!wrong && fewer > cases / 4, "else what they carry together, in lengths of the longest: %d of %d wrong",
           wrong, cases);
}

/*
 * Predicted seconds of communication of a product that is little more than the exchange of A. The rows of op(A) lie in
 * blocks of mb: with mb = 64 each taker has a single holder, otherwise several.
 */
static double exchange_seconds(const char *exchange, int lookahead, int64_t mb)
{
    struct plan_question q = {.product = {.extent = {4, 4}, .coord = {-1, -1}, .size = {1024, 1, 1024}, .type = 1},
                              .profile = hs_profile_builtin,
                              .nodes = NODES,
                              .shared = (int64_t)1 << 30};
    struct hs_ranking ranking;
    struct hs_message message;
    for (int x = 0; x < 3; x++) {
        q.product.op[x] = x == HS_A ? 'T' : 'N';
        q.product.block[x][0] = q.product.block[x][1] = 64;
    }
    q.product.block[HS_A][1] = mb;
    q.profile.one_node = 0;
    q.profile.machine.network.beta = q.profile.machine.inject = 1e-8;
    snprintf(q.words, sizeof q.words, "stationary=C exchange=%s block=64 turn=64 lookahead=%d", exchange, lookahead);
    if (plan_ask(&q, NULL, &ranking, &message)) {
        tap_diag("%s: %s", q.words, message.text);
        return NAN;
    }
    return ranking.choice[0].prediction.comm;
}

int main(void)
{
    draw_seed(3);
    unequal_lines(2000);
    double one[3] = {exchange_seconds("root", 0, 64), exchange_seconds("all", 0, 64), exchange_seconds("all", 0, 48)};
    double four[3] = {exchange_seconds("root", 3, 64), exchange_seconds("all", 3, 64), exchange_seconds("all", 3, 48)};
    tap_ok(four[0] < 0.65 * one[0],
           "panels of four owners pass through their exchanges together: %.2f of the time of one "
           "after the other",
           four[0] / one[0]);
    tap_ok(four[1] < 0.65 * one[1], "likewise where each goes to all and arrives as it is stored: %.2f",
           four[1] / one[1]);
    tap_ok(four[2] > 0.95 * one[2], "not where each goes to all and is unpacked: %.2f", four[2] / one[2]);
    return tap_done();
}
