/*
 * Cells in the planner (summa/messages/cells.h): the cells that represent those of all lines, their prices, the memory
 * of their tiles; when a product shares panels, and when options that request sharing are refused. Results are compared
 * with sums written out by hand, and with the loops of all processes of random grids on random nodes.
 */
#include "support/product/plan_question.h"
#include "support/tap.h"

/* Prices. */

/* Machine and product: a 4 x 4 grid; A (m x k) moves along rows, B (k x n) along columns; 16 panels of 64 indices. */
static const struct hs_machine cluster = {.alpha = 5e-6,
                                          .beta = 1e-9,
                                          .inject = 0.6e-9,
                                          .node = {.alpha = 1e-6, .beta = 0.2e-9},
                                          .copy = 3e-10,
                                          .gamma = 7e-10};
static const struct model_product tall = {HSUMMA_D, "NNN", {4, 4}, {-1, -1}, {512, 2048, 1024}, {{0}}, {0}};
static const struct model_how panels_of_64 = {.stationary = HS_C, .levels = 0, .groups = {1, 1}, .block = 64};

/* Seconds of a message between nodes while `together` lines use the node's link. */
static double between(double bytes, double together)
{
    return cluster.alpha + bytes * fmax(cluster.beta, together * cluster.inject);
}

static struct hs_prediction price(const int *node, const struct model_product *product, const struct model_how *how)
{
    struct hs_profile profile = {.machine = cluster, .threads = 1, .knee = 256};
    struct hs_problem problem = model_problem(product);
    struct hs_spec spec = model_spec(product, how);
    struct hs_topology topology;
    struct hs_prediction is = {.comm = NAN};
    spec.cells = 1;
    if (hs_topology_make(&topology, product->extent[0] * product->extent[1], node, NULL, &hs_heap) == HSUMMA_OK)
        is = model_price(&problem, &spec, &profile, &topology, NULL);
    hs_topology_free(&topology, &hs_heap);
    return is;
}

static void prices(void)
{
    const double a = 8.0 * 64 * 128, b = 8.0 * 64 * 512; /* bytes of a panel of A, of B */
    const double all_a = 16 * a, all_b = 16 * b, own_a = all_a / 4, own_b = all_b / 4;
    int rows[16], tiles[16], halves[16], apart[16], one_by_one[16] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    for (int i = 0; i < 16; i++) {
        rows[i] = i / 4;
        tiles[i] = i / 8 * 2 + i % 4 / 2;
        halves[i] = i / 8;
        apart[i] = i;
    }
    struct hs_prediction is = price(rows, &tall, &panels_of_64);
    tap_ok(model_near(is.comm, 16 * 2 * between(b, 4)) && model_near(is.copy, own_a * cluster.copy),
           "a row of the grid is a node: A is copied into its memory, four columns of B share its way out");
    tap_ok(strcmp(is.operand[HS_A].how, "shared") == 0 && strcmp(is.operand[HS_B].how, "broadcast") == 0,
           "and that is said");
    is = price(tiles, &tall, &panels_of_64);
    tap_ok(model_near(is.comm, 16 * (between(a, 2) + between(b, 2))) &&
               model_near(is.copy, (own_a + own_b) * cluster.copy),
           "2 x 2 processes are a node: one message for each line, two lines leave a node");
    is = price(halves, &tall, &panels_of_64);
    tap_ok(model_near(is.comm, 16 * between(b, 4)), "two rows are a node: columns of two cells");
    is = price(apart, &tall, &panels_of_64);
    tap_ok(model_near(is.comm, 16 * 2 * (between(a, 1) + between(b, 1))) && is.copy == 0,
           "one process on each node: nothing is shared");
    is = price(one_by_one, &tall, &panels_of_64);
    tap_ok(model_near(is.comm, 16 * (between(a, 2) + 2 * between(b, 4))),
           "3 + 4 + 9 processes: two rows of two cells in the middle, four columns of three in the last");
    struct model_how stays = panels_of_64;
    stays.stationary = HS_A;
    double c_panel = 8.0 * 128 * 64, b_panel = 8.0 * 64 * 256, panels = 2048.0 / 64, partial = panels * c_panel,
           own_c = partial / 4;
    const double chain = 2 * between(b_panel, 1), links = 3 / 4.0 * between(b_panel, 4);
    is = price(rows, &tall, &stays);
    tap_ok(model_near(is.comm,
                      is.operand[HS_B].exchange_seconds + panels * (fmax(chain, links) + 0.5 * fmin(chain, links))) &&
               strcmp(is.operand[HS_C].how, "summed") == 0,
           "A stays: sums of C never leave the node; B does, from roots on four nodes: three messages for each, and "
           "waits for half of the two in a row");
    double exchanged = is.copy - own_b * cluster.copy - (partial + 2 * own_c) * cluster.copy;
    tap_ok(exchanged > partial * 3 / 4 * cluster.gamma,
           "and each process adds its share of three of four partial panels");
}

static void levels(void)
{
    /* grid rows of 8 processes; each node has 2 of one row, so a group of 4 is 2 cells */
    struct model_product row = tall;
    struct model_how how = {.stationary = HS_C, .levels = 1, .groups = {1, 2}, .outer = 128, .block = 64};
    int nodes[16];
    const double a = 8.0 * 64 * 256;
    row.extent[0] = 2;
    row.extent[1] = 8;
    row.size[HS_N] = 0;
    for (int i = 0; i < 16; i++)
        nodes[i] = i / 2;
    struct hs_prediction is = price(nodes, &row, &how);
    tap_ok(model_near(is.comm, 8 * between(2 * a, 1) + 16 * between(a, 1)), "groups of two cells: two levels of cells");
    how.groups[1] = 4;
    is = price(nodes, &row, &how);
    tap_ok(model_near(is.comm, 8 * 2 * between(2 * a, 1)), "groups of one cell: the inner level is shared");
    how.groups[1] = 8;
    is = price(nodes, &row, &how);
    tap_ok(model_near(is.comm, 8 * 2 * between(2 * a, 1)), "one level of eight, over four cells, in its own panels");
    for (int i = 0; i < 16; i++)
        nodes[i] = i / 8 * 2 + i % 8 / 4;
    how.groups[1] = 4;
    struct hs_prediction cut = price(nodes, &row, &how);
    tap_ok(cut.comm > 16 * between(a, 1) && strcmp(cut.operand[HS_A].how, "broadcast") == 0,
           "groups of two in nodes of four: members of a node send to each other");
}

/* Comparison with the loops of all processes. */

enum { MOST = 24 }; /* largest number of processes in a random grid */

struct drawn {
    struct model_product product;
    struct model_how how;
    int node[MOST];
};

static struct drawn draw_one(void)
{
    struct drawn d = {.product = {HSUMMA_D, "NNN", {1 + draw(6), 1 + draw(4)}, {-1, -1}, {0}, {{0}}, {0}}};
    int ranks = d.product.extent[0] * d.product.extent[1], nodes = 2 + draw(4), way = draw(3), each = 1 + draw(6);
    for (int i = 0; i < ranks; i++) /* in blocks, round-robin, or scattered */
        d.node[i] = way == 0 ? i / each : way == 1 ? i % nodes : draw(nodes);
    for (int dim = 0; dim < 3; dim++)
        d.product.size[dim] = 1 + draw(200);
    for (int x = 0; x < 3; x++) {
        d.product.op[x] = x != HS_C && draw(3) == 0 ? 'T' : 'N';
        d.product.src[x] = draw(3);
        for (int a = 0; a < 2; a++)
            d.product.block[x][a] = draw(2) ? 0 : 1 + draw(40);
    }
    d.how = (struct model_how){.stationary = draw(3), .levels = draw(2), .lookahead = draw(3), .spread = draw(2)};
    for (int a = 0; a < 2; a++)
        d.how.groups[a] = draw_divisor(d.product.extent[a]);
    d.how.block = 1 + draw(40);
    d.how.outer = d.how.block * (1 + draw(3));
    d.how.owners = d.how.lookahead == 0 ? (int)(d.product.size[0] % 5) : 0;
    return d;
}

/* Facts from the loops of all processes. */
struct found {
    int64_t workspace, shared; /* bytes: workspace of the process with most, shared memory of the node with most */
    int least[2], least_of_several[2], lines[2], members[2]; /* as in hs_line_cells */
    int cut[2]; /* nonzero: on some line, levels cannot be converted to cells (hs_cells_factors) */
};

static void look_at_axis(struct found *found, const struct hs_problem *problem, const struct hs_spec *spec,
                         const struct hs_topology *topology, int axis)
{
    struct hs_cells cells;
    struct hs_factors over;
    if (hs_cells_make(&cells, &problem->grid, axis, 0, topology, &hs_heap))
        return;
    if (found->least[axis] == 0 || cells.members < found->least[axis])
        found->least[axis] = cells.members;
    if (cells.members > 1 && (found->least_of_several[axis] == 0 || cells.members < found->least_of_several[axis]))
        found->least_of_several[axis] = cells.members;
    found->lines[axis] = cells.all[0] > found->lines[axis] ? cells.all[0] : found->lines[axis];
    found->members[axis] = cells.all[1] > found->members[axis] ? cells.all[1] : found->members[axis];
    found->cut[axis] |= !hs_cells_factors(cells.division, &spec->factors[axis], &over);
    hs_cells_free(&cells, &hs_heap);
}

static hsumma_status find(const struct drawn *d, const struct hs_spec *spec, const struct hs_topology *topology,
                          struct found *found)
{
    int ranks = d->product.extent[0] * d->product.extent[1];
    memset(found, 0, sizeof *found);
    for (int r = 0; r < ranks; r++) {
        struct model_product here = d->product;
        struct hs_comm comm = {.comm = MPI_COMM_NULL, .rank = r, .size = ranks, .cut = HS_CUT, .topology = *topology};
        struct hs_message message;
        struct hs_loop loop;
        here.coord[0] = r / d->product.extent[1];
        here.coord[1] = r % d->product.extent[1];
        struct hs_problem problem = model_problem(&here);
        hsumma_status status = hs_loop_init(&loop, &problem, spec, &comm, &hs_heap, &message);
        if (status)
            return status;
        int64_t workspace = (int64_t)(loop.buffer_bytes + loop.shared_part);
        found->workspace = workspace > found->workspace ? workspace : found->workspace;
        found->shared = (int64_t)loop.shared_bytes > found->shared ? (int64_t)loop.shared_bytes : found->shared;
        hs_loop_free(&loop, &hs_heap);
        for (int axis = 0; axis < 2; axis++)
            look_at_axis(found, &problem, spec, topology, axis);
    }
    return HSUMMA_OK;
}

struct wrong {
    int cases, cells, cuts, workspace, shared, tight[2];
};

static void compare(const struct drawn *d, const struct hs_spec *spec, const struct hs_topology *topology,
                    struct wrong *wrong)
{
    struct hs_problem problem = model_problem(&d->product);
    struct hs_variant variant;
    struct hs_line_table lines;
    struct hs_pairs pairs;
    struct hs_message message;
    struct found found;
    if (hs_variant_make(&problem, spec->stationary, &variant, &message) || hs_variant_pairs(&variant, &hs_heap, &pairs))
        return;
    if (find(d, spec, topology, &found) == HSUMMA_OK &&
        !hs_line_table_init(&lines, topology, 0, &problem.grid, &hs_heap)) {
        if (!hs_line_table_share(&lines, &hs_heap) && lines.shares) {
            struct hs_need need = hs_need_of(&(struct hs_pricing){NULL, &lines, &problem, &variant, &pairs, 1}, spec);
            wrong->cases++;
            wrong->workspace += found.workspace > need.workspace;
            wrong->shared += found.shared > need.shared;
            wrong->tight[0] += found.workspace >= need.workspace * 9 / 10;
            wrong->tight[1] += found.shared >= need.shared * 9 / 10;
            for (int axis = 0; axis < 2; axis++) {
                const struct hs_line_cells *cells = &lines.cells[axis];
                wrong->cells += cells->least != found.least[axis] || cells->lines != found.lines[axis] ||
                                cells->least_of_several != found.least_of_several[axis] ||
                                cells->members != found.members[axis];
                wrong->cuts += (hs_line_cut(&lines, axis, &spec->factors[axis]) >= 0) != found.cut[axis];
            }
        }
        hs_line_table_free(&lines, &hs_heap);
    }
    hs_pairs_free(&hs_heap, &pairs);
}

static void against_loops(int cases)
{
    struct wrong wrong = {0};
    draw_seed(21);
    for (int i = 0; i < cases; i++) {
        struct drawn d = draw_one();
        struct hs_spec spec = model_spec(&d.product, &d.how);
        struct hs_topology topology;
        spec.cells = 1;
        int knows = draw(6); /* with algorithms that know nodes, only the other operand is shared */
        for (int l = 0; l < spec.levels && knows < 2; l++)
            *(knows ? &spec.reduce[l] : &spec.bcast[l]) =
                knows ? hs_alg_find(HS_REDUCE_TO, "smp") : hs_alg_find(HS_BCAST, "hierarchical");
        if (hs_topology_make(&topology, d.product.extent[0] * d.product.extent[1], d.node, NULL, &hs_heap))
            continue;
        compare(&d, &spec, &topology, &wrong);
        hs_topology_free(&topology, &hs_heap);
    }
    tap_ok(wrong.cases > cases / 2 && !wrong.cells,
           "%d drawn grids on drawn nodes: the smallest cells and the busiest nodes of all lines; %d are not",
           wrong.cases, wrong.cells);
    tap_ok(!wrong.cuts, "levels cut through nodes where some line's cells cannot follow them: %d otherwise",
           wrong.cuts);
    tap_ok(!wrong.workspace && !wrong.shared,
           "no process's panel buffers, no node's tiles are more than what is planned with: %d and %d are",
           wrong.workspace, wrong.shared);
    tap_ok(wrong.tight[0] * 2 > wrong.cases && wrong.tight[1] * 2 > wrong.cases,
           "and mostly they are about that: %d and %d of %d", wrong.tight[0], wrong.tight[1], wrong.cases);
}

/* Choices. */

/* A question for 8 x 8 processes on 16 nodes of 4; a node has half of a grid row. */
static struct plan_question on_16_nodes(const char *words)
{
    struct plan_question q = {.product = model_product_square(4096, 8),
                              .profile = hs_profile_builtin,
                              .nodes = 16,
                              .shared = (int64_t)1 << 36};
    q.profile.one_node = 0;
    snprintf(q.words, sizeof q.words, "%s", words);
    return q;
}

static void decisions(void)
{
    enum { NONE = -1, CUT = 2 };
    static const struct {
        const char *words;
        int64_t shared;
        int nodes, cells; /* cells: expected choice; CUT: cells, with levels that cut through nodes; NONE: no plan */
        const char *says, *what;
    } rows[] = {
        {"", (int64_t)1 << 36, 16, 1, "", "nodes that can share panels do"},
        {"", 0, 16, 0, "", "not where they cannot"},
        {"", (int64_t)1 << 36, 64, 0, "", "nor where each process is alone on its node"},
        {"node=messages", (int64_t)1 << 36, 16, 0, "", "nor if the caller says so"},
        {"node=shared groups=2x2 bcast=outer=flat,inner=chain block=64 lookahead=0", (int64_t)1 << 36, 16, 1, "",
         "with words for what is between the nodes"},
        {"groups=2x2", (int64_t)1 << 36, 16, 1, "", "which need not be said"},
        {"groups=1x4", (int64_t)1 << 36, 16, CUT, "", "groups that cut through nodes are obeyed"},
        {"node=shared groups=1x4", (int64_t)1 << 36, 16, NONE, "columns 0 to 1 on level 1 cuts through node 0",
         "but not both"},
        {"node=shared levels=1x2,1x2", (int64_t)1 << 36, 16, NONE, "columns 0 to 1 on level 2 cuts through node 0",
         "on an inner level neither"},
        {"node=shared", 0, 16, NONE, "cannot share memory", "node=shared is refused where it cannot be"},
        {"node=shared bcast=mpi", (int64_t)1 << 36, 16, NONE, "bcast=mpi", "or not with MPI's own algorithms"},
        {"bcast=mpi", (int64_t)1 << 36, 16, 0, "", "with which nothing is shared"},
        {"stationary=C bcast=hierarchical", (int64_t)1 << 36, 16, 0, "",
         "algorithms that know nodes run over all processes of a line"},
        {"stationary=C bcast=hierarchical node=shared", (int64_t)1 << 36, 16, NONE, "are node-aware",
         "which nodes that share cannot do"},
        {"stationary=A reduce=smp node=shared", (int64_t)1 << 36, 16, 1, "", "but for the other operand"},
        {"stationary=A reduce=nap", (int64_t)1 << 36, 3, 1, "", "also where nodes have unequal numbers of a line"},
        {"stationary=A levels=1x2 reduce=nap", (int64_t)1 << 36, 5, NONE, "reduce=nap cannot serve",
         "unless one has a single rank, on any level"},
        {"stationary=C reduce=nap", (int64_t)1 << 36, 3, 1, "", "which nobody asks of a C that stays"},
        {"stationary=C", 8 << 20, 16, 1, "", "with little memory on a node panels are narrower"},
        {"block=512 stationary=C", 1 << 20, 16, 0, "", "and with less they are sent"},
        {"node=shared block=512 stationary=C", 1 << 20, 16, NONE, "node's shared memory", "or refused"},
        {"node=shared", 1000, 16, NONE, "node's shared memory", "where not even the narrowest fit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan_question q = on_16_nodes(rows[i].words);
        struct hs_ranking ranking;
        struct hs_message message;
        q.shared = rows[i].shared;
        q.nodes = rows[i].nodes;
        hsumma_status status = plan_ask(&q, NULL, &ranking, &message);
        const struct hs_choice *choice = &ranking.choice[0];
        int good = status ? rows[i].cells == NONE && strstr(message.text, rows[i].says)
                          : choice->spec.cells + choice->cut == rows[i].cells;
        if (!tap_ok(good, "'%s' on %d nodes sharing %lld: %s", rows[i].words, rows[i].nodes, (long long)rows[i].shared,
                    rows[i].what))
            tap_diag("status %d: %s", (int)status, message.text);
    }
}

/* A product with more panels than the directory's counters can count. */
static void too_many(void)
{
    struct plan_question q = on_16_nodes("block=1 stationary=C");
    struct hs_ranking ranking;
    struct hs_message message;
    q.product.size[HS_M] = q.product.size[HS_N] = 64;
    q.product.size[HS_K] = 20000000;
    int good = !plan_ask(&q, NULL, &ranking, &message) && !ranking.choice[0].spec.cells && ranking.choice[0].apart &&
               strcmp(ranking.choice[0].apart, "too many panels") == 0;
    tap_ok(good, "20 million panels are not shared");
    snprintf(q.words, sizeof q.words, "block=1 stationary=C node=shared");
    tap_ok(plan_ask(&q, NULL, &ranking, &message) == HSUMMA_ERR_UNSUPPORTED && strstr(message.text, "16777214 panels"),
           "and refused if they should be");
}

/* The shared memory of each candidate fits the available memory; sharing panels rarely costs more than messages. */
static void within(int cases)
{
    int shared = 0, above = 0, dearer = 0, narrow = 0, asked = 0;
    draw_seed(22);
    for (int i = 0; i < cases; i++) {
        struct plan_question q = plan_question_draw(8), apart;
        struct hs_ranking ranking, messages;
        struct hs_message message;
        if (q.nodes < 2)
            continue;
        q.shared = draw(2) ? (int64_t)1 << 40 : draw_size(1 << 16, 1 << 26);
        apart = q;
        apart.shared = 0;
        if (plan_ask(&q, NULL, &ranking, &message) || plan_ask(&apart, NULL, &messages, &message))
            continue;
        asked++;
        for (int r = 0; r < ranking.count; r++) {
            const struct hs_spec *spec = &ranking.choice[r].spec;
            int64_t bytes = plan_shared_bytes(&q, spec);
            above += bytes > q.shared;
            narrow += spec->cells && q.shared < (int64_t)1 << 40;
            shared += spec->cells;
        }
        dearer += q.shared == (int64_t)1 << 40 && ranking.choice[0].spec.cells &&
                  ranking.choice[0].prediction.comm > 1.05 * messages.choice[0].prediction.comm &&
                  ranking.choice[0].prediction.seconds > 1.05 * messages.choice[0].prediction.seconds;
    }
    tap_ok(shared > asked && narrow > asked / 4 && !above,
           "%d products, %d candidates that share panels: all within what a node has (%d are not)", asked, shared,
           above);
    tap_ok(dearer * 50 < asked, "and seldom dearer than by messages: %d are", dearer);
}

int main(void)
{
    prices();
    levels();
    against_loops(1500);
    decisions();
    too_many();
    within(600);
    return tap_done();
}
