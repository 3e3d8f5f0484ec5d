/*
 * The price per byte of an exchange, compared with the lists of all processes, whose messages are summed by port, by
 * node and by link; for random grids, layouts, operands, nodes and fabrics.
 */
#include "hsumma/cost/exchange_pace.h"
#include "support/product/model_product.h"
#include "support/random.h"
#include "support/tap.h"

enum { MOST = 36, LINKS = 256 };

static const struct hs_machine machine = {
    .alpha = 5e-6, .beta = 1e-9, .inject = 0.6e-9, .node = {.alpha = 1e-6, .beta = 0.2e-9}};

/* Traffic of the panels of one owner, by direction. between, inside: bytes of each process to and from other nodes, and
 * inside its node; way: bytes over each node's link; link: over each link between nodes; messages: of each process. */
struct sums {
    double between[2][MOST], inside[2][MOST], way[2][MOST]; /* [0]: out, [1]: in */
    double messages[2][MOST], link[LINKS];
};

/* Adds the messages that a process sends for the panels of each owner; process 0 also counts the panels. Returns 0 on
 * failure. */
static int add_process(struct model_product product, const struct model_how *how, int operand, int place,
                       const struct hs_topology *nodes, struct sums *of, int64_t *panels)
{
    product.coord[0] = place / product.extent[1];
    product.coord[1] = place % product.extent[1];
    struct hs_problem problem = model_problem(&product);
    struct hs_spec spec = model_spec(&product, how);
    struct hs_variant variant;
    struct hs_message message;
    struct hs_pairs pairs;
    struct hs_panels cut;
    struct hs_mover mover;
    struct hs_cache lists;
    int x = how->stationary == HS_A ? HS_B : HS_A, y = how->stationary == HS_C ? HS_B : HS_C, list[512];
    if (hs_variant_make(&problem, how->stationary, &variant, &message) || !variant.role[operand].exchanged ||
        hs_pairs_make(variant.role[x].looped, variant.role[y].looped, 0, &hs_heap, &pairs) ||
        hs_panels_make(&pairs, spec.levels, spec.width, spec.turn, &hs_heap, &cut))
        return 0;
    hs_mover_init(&mover, &problem, &variant, &spec, &cut, nodes, NULL, operand);
    hs_cache_begin(&lists, &hs_heap);
    int ok = cut.tier[mover.tier0].count <= 512 && !hs_mover_make_tables(&mover, &hs_heap) &&
             !hs_mover_exchange_lists(&mover, operand == HS_C, &lists, list);
    for (int o = 0; ok && o < cut.tier[mover.tier0].count; o++) {
        int owner = cut.pairs.pair[hs_mover_pair(&mover, mover.tier0, o)].owner[mover.index];
        panels[owner] += place == 0;
        if (list[o] < 0)
            continue;
        for (int i = 0; i < lists.list[list[o]].steps; i++) {
            const struct hs_step *step = &lists.list[list[o]].step[i];
            if (step->kind != HS_SEND)
                continue;
            struct sums *sum = &of[owner];
            int end[2] = {place, step->peer}, at[2];
            for (int e = 0; e < 2; e++)
                at[e] = hs_part_of(&nodes->division[HS_NODE], end[e]);
            if (nodes->fabric)
                hs_fabric_route(nodes->fabric, at[0], at[1], (double)step->count,
                                &(struct hs_fabric_traffic){.load = sum->link});
            for (int e = 0; e < 2; e++) {
                (at[0] == at[1] ? sum->inside : sum->between)[e][end[e]] += (double)step->count;
                sum->way[e][at[e]] += at[0] == at[1] ? 0 : (double)step->count;
                sum->messages[e][end[e]]++;
            }
        }
    }
    hs_mover_free_tables(&mover, &hs_heap);
    hs_cache_free(&lists);
    hs_panels_free(&hs_heap, &cut);
    return ok;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Draws a product and one of its operands; returns whether that operand is exchanged. */
static int drawn(struct model_product *product, struct model_how *how, int *operand)
{
    struct hs_variant variant;
    struct hs_message message;
    *product = (struct model_product){.type = HSUMMA_D, .coord = {-1, -1}};
    *how = (struct model_how){.stationary = draw(3), .groups = {1, 1}, .block = 1 + draw(40), .spread = draw(2)};
    product->extent[0] = 1 + draw(6);
    product->extent[1] = 1 + draw(6);
    for (int d = 0; d < 3; d++) {
        product->size[d] = draw(3) ? 40 + draw(200) : 8 + draw(40);
        product->op[d] = d < 2 && draw(2) ? 'T' : 'N';
        product->block[d][0] = draw(3) ? 8 : 1 + draw(30);
        product->block[d][1] = draw(3) ? 8 : 1 + draw(30);
        product->src[d] = draw(3) ? 0 : draw(7) - 1;
    }
    struct hs_problem problem = model_problem(product);
    if (hs_variant_make(&problem, how->stationary, &variant, &message))
        return 0;
    *operand = draw(3);
    return variant.role[*operand].moves && variant.role[*operand].exchanged;
}

/* Compares the price with the lists. Returns 1 if they agree, 0 if they differ or on failure. Sets *idle to 1 if some
 * owner has no panel. */
static int agrees(const struct model_product *product, const struct model_how *how, int operand,
                  const struct hs_topology *nodes, int *idle)
{
    static struct sums of[MOST];
    int64_t panels[MOST] = {0};
    struct hs_problem problem = model_problem(product);
    struct hs_variant variant;
    struct hs_message message;
    struct hs_line_table lines;
    struct hs_exchange_pace pace = {0};
    int processes = product->extent[0] * product->extent[1];
    memset(of, 0, sizeof of);
    for (int p = 0; p < processes; p++)
        if (!add_process(*product, how, operand, p, nodes, of, panels))
            return 0;
    if (hs_variant_make(&problem, how->stationary, &variant, &message) ||
        hs_line_table_init(&lines, nodes, 0, &problem.grid, &hs_heap))
        return 0;
    const struct hs_role *role = &variant.role[operand];
    int spread = how->spread && operand != HS_C && problem.grid.extent[role->line_axis] > 1, outward = operand == HS_C;
    int failed = hs_exchange_pace(&lines, role, spread, &machine, &hs_heap, &pace);
    hs_line_table_free(&lines, &hs_heap);
    double alone = 0, messages = 0, together = 0, way[2][MOST] = {{0}}, ports[2][MOST] = {{0}}, link[LINKS] = {0},
           one_node = nodes->division[HS_NODE].parts == 1;
    const double total = (double)role->own->n * (double)role->looped->n * 8;
    for (int o = 0; o < role->looped->nprocs; o++) {
        if (panels[o] == 0) {
            *idle = 1;
            continue;
        }
        const double all = (double)role->own->n * (double)hs_axis_count(role->looped, o) * 8, weight = all / total;
        double most = 0, count = 0;
        for (int e = 0; e < 2; e++)
            for (int p = 0; p < processes; p++) {
                double port = of[o].inside[e][p] * machine.node.beta + of[o].between[e][p] * machine.beta;
                most = larger(most, larger(port, of[o].way[e][p] * machine.inject) / all);
                count = larger(count, of[o].messages[e][p] / (double)panels[o]);
                way[outward ? 1 - e : e][p] += of[o].way[e][p] * machine.inject / total;
                ports[e][p] += port / total;
            }
        for (int l = 0; l < LINKS; l++) {
            most = larger(most, of[o].link[l] * machine.beta / all);
            link[l] += of[o].link[l] * machine.beta / total;
        }
        alone += most * weight;
        messages += count * weight;
    }
    for (int p = 0; p < processes; p++)
        together = larger(together, larger(larger(way[0][p], way[1][p]), larger(ports[0][p], ports[1][p])));
    for (int l = 0; l < LINKS; l++)
        together = larger(together, link[l]);
    int ok = !failed && fabs(pace.alone - alone) <= 1e-9 * alone && fabs(pace.messages - messages) <= 1e-9 &&
             pace.together <= pace.alone && (one_node || pace.together >= fmin(together, alone) * (1 - 1e-9));
    if (!ok)
        tap_diag("%dx%d %.3s stationary %c, operand %c, spread %d, %d nodes: alone %g, by lists %g; messages %g, %g; "
                 "together %g, %g",
                 product->extent[0], product->extent[1], product->op, "ABC"[how->stationary], "ABC"[operand], spread,
                 nodes -> division[HS_NODE].parts, pace.alone, alone, pace.messages, messages, pace.together, together);
    return ok;
}

/* Draws the links between nodes, or that they are not known; returns the fabric or NULL. */
static const struct hs_fabric *drawn_fabric(struct hs_fabric *fabric)
{
    static const char *const shapes[][2] = {{"torus", "6x6"}, {"torus", "3x4x3"}, {"tree", "6x6"}, {"tree", "4x9/1x2"}};
    int which = draw(2 * (int)(sizeof shapes / sizeof *shapes));
    if (which % 2)
        return NULL;
    const char *shape = shapes[which / 2][1];
    return hs_fabric_read(shapes[which / 2][0], &shape, fabric) ? NULL : fabric;
}

int main(void)
{
    enum { CASES = 600 };
    int cases = 0, wrong = 0, spread = 0, outward = 0, linked = 0, idle = 0;
    draw_seed(5);
    while (cases < CASES) {
        struct model_product product;
        struct model_how how;
        struct hs_topology nodes;
        int operand, node[MOST], some_idle = 0;
        if (!drawn(&product, &how, &operand))
            continue;
        int processes = product.extent[0] * product.extent[1], each = 1 + draw(5), shuffled = draw(3) == 0;
        for (int p = 0; p < processes; p++)
            node[p] = shuffled ? draw(each) : p / each;
        if (hs_topology_make(&nodes, processes, node, NULL, &hs_heap))
            return 1;
        struct hs_fabric fabric;
        if (operand != HS_C) /* the links of C's messages, the other way, are taken to be as busy */
            nodes.fabric = drawn_fabric(&fabric);
        int ok = agrees(&product, &how, operand, &nodes, &some_idle);
        linked += ok && nodes.fabric;
        hs_topology_free(&nodes, &hs_heap);
        cases++;
        wrong += !ok;
        spread += ok && how.spread;
        outward += ok && operand == HS_C;
        idle += ok && some_idle;
    }
    tap_ok(!wrong, "%d of %d exchanges do not take what their lists' ports and nodes carry", wrong, cases);
    tap_ok(spread > cases / 8 && outward > cases / 8 && linked > cases / 8 && idle > cases / 16,
           "%d to all, %d of C, %d over known links, %d with owners of nothing", spread, outward, linked, idle);
    return tap_done();
}
