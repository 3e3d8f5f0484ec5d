/*
 * The load of a torus's links when all lines of a grid broadcast: of the lines of A, of those of B, and of both
 * together, against the routes of every message; and the price of a long vector, whose rate is that of the busiest
 * link.
 */
#include "hsumma/cost/links.h"
#include "hsumma/cost/price.h"
#include "support/tap.h"

#include <math.h>
#include <string.h>

enum { NODES = 64, RANKS = 128, ROWS = 8, COLS = 16, LINKS = 6 * NODES };

struct machine {
    struct hs_fabric fabric;
    struct hs_topology topology;
    int rank[RANKS];
    struct hs_grid grid;
    struct hs_line_table lines;
};

/* The processes of a node are consecutive; or they are as many ranks apart as there are nodes. */
static int machine_make(struct machine *machine, const char *torus, int ranks, int rows, int consecutive)
{
    int node[RANKS];
    memset(machine, 0, sizeof *machine);
    if (hs_fabric_read("torus", &torus, &machine->fabric))
        return 0;
    for (int r = 0; r < ranks; r++) {
        const int nodes = machine->fabric.positions;
        node[r] = consecutive ? r / (ranks / nodes) : r % nodes;
        machine->rank[r] = r;
    }
    machine->grid = (struct hs_grid){.extent = {rows, ranks / rows}, .coord = {0, 0}, .rank = machine->rank};
    if (hs_topology_make(&machine->topology, ranks, node, NULL, &hs_heap))
        return 0;
    machine->topology.fabric = &machine->fabric;
    return !hs_line_table_init(&machine->lines, &machine->topology, 0, &machine->grid, &hs_heap) &&
           !hs_line_table_share(&machine->lines, &hs_heap);
}

/* Adds the messages of broadcasts along the first lines of an axis, each `amount` long: chains, or `flat`.  The roots
 * are cell `root` in the order of members, wherever it is in the order of the fabric. */
static void add_messages(const struct machine *machine, int axis, int lines, int flat, int root, double amount,
                         double *load)
{
    const struct hs_grid *grid = &machine->grid;
    for (int line = 0; line < lines; line++) {
        int position[RANKS], order[RANKS], scratch[RANKS + HS_FABRIC_DIMS], cells = 0, place = 0;
        for (int m = 0; m < grid->extent[axis]; m++) {
            int at = hs_node_on_line(&machine->topology, grid, axis, line, m), known = 0;
            for (int c = 0; c < cells; c++)
                known |= position[c] == at;
            if (!known)
                position[cells++] = at;
        }
        hs_fabric_order(&machine->fabric, position, cells, hs_line_in_fabric(&machine->topology, grid, axis, line),
                        order, scratch);
        while (order[place] != root % cells)
            place++;
        for (int c = place; c + 1 < place + cells; c++)
            hs_fabric_route(&machine->fabric, position[order[(flat ? place : c) % cells]],
                            position[order[(c + 1) % cells]], amount, &(struct hs_fabric_traffic){.load = load});
    }
}

static double busiest(const double *load)
{
    double most = 0;
    for (int i = 0; i < LINKS; i++)
        most = fmax(most, load[i]);
    return most;
}

static int same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static struct hs_line_use use_of(struct machine *machine, int axis, double seconds)
{
    const struct hs_role role = {.line_axis = axis};
    int cells = machine->lines.cells[axis].nodes[0];
    return (struct hs_line_use){.line = hs_line_of(&machine->lines, 1, &role, 1, cells),
                                .alg = hs_alg_find(HS_BCAST, "chain"),
                                .unit = 8,
                                .segment = 65536,
                                .seconds = seconds};
}

/* adjacent: neighbours in a line are neighbours on the torus. */
static void test_loads(struct machine *machine, int adjacent)
{
    for (int i = 0; i < 4; i++) {
        int axis = i % 2, flat = i / 2;
        double most[HS_LOAD_ROOTS], alone = 0, load[LINKS] = {0}, expected[HS_LOAD_ROOTS];
        struct hs_line_use use = use_of(machine, axis, 0);
        use.alg = hs_alg_find(HS_BCAST, flat ? "flat" : "chain");
        hsumma_status status = hs_link_loads(&machine->lines, &use, &hs_heap, most, &alone);
        const int lines = machine->grid.extent[1 - axis];
        add_messages(machine, axis, 1, flat, 0, 1, load);
        int good = !status && same(alone, busiest(load)) && (!adjacent || flat || same(alone, 1));
        for (int root = 0; root < HS_LOAD_ROOTS; root++) {
            add_messages(machine, axis, lines, flat, root, 1.0 / (root + 1), memset(load, 0, sizeof load));
            for (int before = 0; before < root; before++)
                add_messages(machine, axis, lines, flat, before, 1.0 / (root + 1), load);
            expected[root] = busiest(load);
            good &= same(most[root], expected[root]);
        }
        tap_ok(good,
               "%d rows, axis %d, %s: the busiest link carries %g vectors with one root, %g with two; expected %g, %g",
               machine->grid.extent[0], axis, use.alg->name, most[0], most[1], expected[0], expected[1]);
    }
}

/* The halves of a vector take opposite ways; a vector of one segment takes one. */
static void test_pieces(struct machine *machine)
{
    double most[HS_LOAD_ROOTS], alone[4];
    struct hs_line_use use = use_of(machine, 1, 0);
    use.alg = hs_alg_find(HS_BCAST, "bidirectional_chain");
    hsumma_status status = HSUMMA_OK;
    for (int pieces = 0; pieces < 4 && !status; pieces++) {
        use.pieces = pieces;
        status = hs_link_loads(&machine->lines, &use, &hs_heap, most, &alone[pieces]);
    }
    tap_ok(!status && same(alone[0], 0.5) && same(alone[1], 1) && same(alone[2], 0.5) && same(alone[3], 2 / 3.0),
           "bidirectional_chain: a link carries %g of a vector of many segments, %g of one, %g of two, %g of three",
           alone[0], alone[1], alone[2], alone[3]);
    tap_ok(hs_few_pieces(&use, 65536) == 1 && hs_few_pieces(&use, 3 * 65536) == 3 &&
               hs_few_pieces(&use, 3 * 65536 + 8) == 0 && hs_few_pieces(&use, 131072) == 2,
           "  the number of segments, if there are few");
}

static void test_together(struct machine *machine)
{
    double load[LINKS] = {0}, most[2][HS_LOAD_ROOTS], alone, seconds = 0, amount[2] = {3, 5};
    struct hs_line_use use[2] = {use_of(machine, 0, 0), use_of(machine, 1, 0)};
    hsumma_status status = HSUMMA_OK;
    for (int axis = 0; axis < 2 && !status; axis++) {
        status = hs_link_loads(&machine->lines, &use[axis], &hs_heap, most[axis], &alone);
        use[axis].seconds = amount[axis] * most[axis][0];
        add_messages(machine, axis, machine->grid.extent[1 - axis], 0, 0, amount[axis], load);
    }
    for (int again = 0; again < 2 && !status; again++)
        status = hs_links_together(&machine->lines, use, 2, &hs_heap, &seconds);
    tap_ok(!status && same(seconds, busiest(load)), "chains of both axes together: %g, expected %g", seconds,
           busiest(load));
    tap_ok(seconds < use[0].seconds + use[1].seconds, "  less than apart, %g", use[0].seconds + use[1].seconds);
    use[0] = use[1];
    status = hs_links_together(&machine->lines, use, 2, &hs_heap, &seconds);
    tap_ok(!status && same(seconds, 2 * use[1].seconds), "the same lines twice: twice the load");
}

static struct hs_profile profile_of_torus(void)
{
    struct hs_profile profile = hs_profile_builtin;
    profile.one_node = 0;
    profile.machine.network = (struct hs_link){.alpha = 1e-6, .beta = 1e-9};
    profile.machine.inject = 0;
    profile.machine.ports = 6;
    return profile;
}

static void test_price(struct machine *machine)
{
    const int64_t bytes = (int64_t)16 << 20;
    const struct hs_profile profile = profile_of_torus();
    struct hs_clock_memo memo = {.count = 0};
    double most[HS_LOAD_ROOTS], alone = 0;
    struct hs_line_use use = use_of(machine, 1, 0);
    hsumma_status status = hs_link_loads(&machine->lines, &use, &hs_heap, most, &alone);
    hs_clock_memo_begin(&memo, &profile, &hs_heap);
    struct hs_cost cost[2];
    for (int i = 0; i < 2; i++)
        cost[i] = hs_price(&memo, &machine->lines, &use, (i + 1) * bytes, &status);
    double link = most[0] * (double)bytes * profile.machine.network.beta, more = cost[1].seconds - cost[0].seconds;
    tap_ok(!status && most[0] > 1 && cost[0].seconds > link && same(cost[0].link[0], link),
           "a vector takes longer than its busiest link works, %g s: %g", link, cost[0].seconds);
    tap_ok(fabs(more - link) < 0.01 * link, "  twice the vector, by the link's work more: %g", more);
    hs_clock_memo_free(&memo);
}

/* A memo keeps the prices of grids of other shapes, and of lines of other lengths, apart. */
static void test_memo(struct machine *machine, struct machine *other)
{
    const struct hs_axis uneven = hs_axis_make(1000, 200, 200, 0, COLS);
    const struct hs_role roles[3] = {{.line_axis = 0}, {.line_axis = 0}, {.line_axis = 0, .want = &uneven}};
    struct machine *of[3] = {machine, other, machine};
    const struct hs_profile profile = profile_of_torus();
    struct hs_clock_memo memo = {.count = 0}, fresh = memo;
    hsumma_status status = HSUMMA_OK;
    double known[3], anew[3];
    hs_clock_memo_begin(&memo, &profile, &hs_heap);
    for (int i = 0; i < 3; i++) {
        const struct hs_line_use use = {.line = hs_line_of(&of[i]->lines, 1, &roles[i], 1, 2),
                                        .alg = hs_alg_find(HS_BCAST, "chain"),
                                        .unit = 8,
                                        .segment = 65536};
        known[i] = hs_price(&memo, &of[i]->lines, &use, 1 << 24, &status).seconds;
        hs_clock_memo_begin(&fresh, &profile, &hs_heap);
        anew[i] = hs_price(&fresh, &of[i]->lines, &use, 1 << 24, &status).seconds;
        hs_clock_memo_free(&fresh);
    }
    hs_clock_memo_free(&memo);
    tap_ok(!status && known[0] == anew[0] && known[1] == anew[1] && known[2] == anew[2],
           "a price is the same after those of other grids and lines: %g %g %g", known[0], known[1], known[2]);
    tap_ok(anew[0] != anew[1], "  which are not the same: %g", anew[1]);
}

/* A price does not depend on those asked for before: of vectors with other numbers of segments, which are interpolated
 * from the same sizes, and of lines over members instead of cells. */
static void test_history(struct machine *machine)
{
    static const int64_t sizes[] = {120000, 65536, 131072, 150000, 200000, 1 << 20};
    const struct hs_profile profile = profile_of_torus();
    const struct hs_role role = {.line_axis = 0};
    struct hs_clock_memo memo = {.count = 0}, fresh = memo;
    int differ = 0;
    hs_clock_memo_begin(&memo, &profile, &hs_heap);
    for (int i = 0; i < 4 * 6; i++) {
        struct hs_line_use use = use_of(machine, 0, 0);
        use.alg = hs_alg_find(HS_BCAST, i % 2 ? "bidirectional_chain" : "flat");
        if (i / 12)
            use.line = hs_line_of(&machine->lines, 0, &role, 1, machine->grid.extent[0]);
        hsumma_status status = HSUMMA_OK;
        const double known = hs_price(&memo, &machine->lines, &use, sizes[i / 2 % 6], &status).seconds;
        hs_clock_memo_begin(&fresh, &profile, &hs_heap);
        const double anew = hs_price(&fresh, &machine->lines, &use, sizes[i / 2 % 6], &status).seconds;
        hs_clock_memo_free(&fresh);
        differ += status || known != anew;
    }
    hs_clock_memo_free(&memo);
    tap_ok(!differ, "prices do not depend on those before them: %d of 24 do", differ);
}

static void machine_free(struct machine *machine)
{
    hs_line_table_free(&machine->lines, &hs_heap);
    hs_topology_free(&machine->topology, &hs_heap);
}

int main(void)
{
    struct machine machine, other, single;
    struct machine shifted; /* the lines of a node begin on different sides of the torus */
    int made = machine_make(&machine, "4x4x4", RANKS, ROWS, 0);
    made &= machine_make(&other, "4x4x4", RANKS, 4, 0);
    made &= machine_make(&shifted, "4x4x1", NODES, 4, 1);
    made &= machine_make(&single, "4x4x4", NODES, 8, 1);
    if (tap_ok(made, "tori with one, two and four processes on each node")) {
        test_loads(&machine, 1);
        test_loads(&other, 1);
        test_loads(&shifted, 1);
        test_pieces(&machine);
        test_together(&machine);
        test_price(&machine);
        test_memo(&machine, &other);
        test_history(&shifted);
        test_history(&single);
    }
    machine_free(&machine);
    machine_free(&other);
    machine_free(&shifted);
    machine_free(&single);
    return tap_done();
}
