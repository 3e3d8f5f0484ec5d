/*
 * The predicted cost of a product, compared with the closed forms of the HSUMMA paper (Quintin, Hasanov and
 * Lastovetsky, ICPP 2013, Section IV), and, where the paper has none, with sums written out by hand: lines inside and
 * between nodes, exchanges, multiplications, copies, overlap.
 */
#include "support/product/model_product.h"
#include "support/tap.h"

static double log_2(double x)
{
    return round(log2(x));
}

/* The paper's machine: one port, no nodes; multiplications are not included. */
static struct hs_profile paper_machine(double alpha, double beta)
{
    return (struct hs_profile){.machine = {.alpha = alpha, .beta = beta},
                               .threads = 1,
                               .pipelining = 2 / 3.0,
                               .knee = 256,
                               .slice = INT64_MAX};
}

/* The cost of one axis on a line of q processes: latency in units of alpha per panel, volume in units of
 * beta n^2/sqrt(p). */
static double latency(int van_de_geijn, double q)
{
    return q > 1 ? log_2(q) + (van_de_geijn ? q - 1 : 0) : 0;
}

static double volume(int van_de_geijn, double q)
{
    return q > 1 ? van_de_geijn ? 2 * (1 - 1 / q) : log_2(q) : 0;
}

/* The paper's formulas, in seconds, with beta per element: x groups along each axis of q processes; x = 1 is SUMMA. */
static double hsumma(int geijn, double n, double q, double x, double b, double outer, double alpha, double beta)
{
    double in = q / x, half = n * n / q * beta;
    return 2 * (latency(geijn, x) * n / outer * alpha + volume(geijn, x) * half + latency(geijn, in) * n / b * alpha +
                volume(geijn, in) * half);
}

static const char *const names[2] = {"binomial", "van_de_geijn"};

static double comm_of(int geijn, int64_t n, int q, int x, int64_t b, int64_t outer, const struct hs_profile *profile)
{
    struct model_product product = model_product_square(n, q);
    struct model_how how = {
        .stationary = HS_C, .levels = x > 0, .groups = {x, x}, .outer = outer, .block = b, .bcast = names[geijn]};
    return model_predict(&product, &how, profile, NULL).comm;
}

static void closed_forms(void)
{
    static const struct {
        int64_t n, b, outer;
        int q;
    } large[] = {
        {4096, 64, 256, 4}, {8192, 128, 128, 8}, {8192, 64, 256, 16}, {65536, 256, 1024, 16}, {16384, 64, 512, 32}};
    const double alpha = 3e-6, beta = 1e-9; /* seconds per message; seconds per element */
    struct hs_profile profile = paper_machine(alpha, beta / 8);
    for (int geijn = 0; geijn < 2; geijn++) {
        int runs = 0, summa = 0, two = 0, ends = 0, mirrored = 0;
        for (int q = 4; q <= 32; q *= 2)
            for (int64_t b = 4; b <= 16; b *= 2)
                for (int64_t outer = b; outer <= 64; outer *= 4) {
                    int64_t n = 64 * q;
                    double plain = comm_of(geijn, n, q, 0, b, b, &profile);
                    summa += !model_near(plain, hsumma(geijn, (double)n, q, 1, (double)b, (double)b, alpha, beta));
                    for (int x = 1; x <= q; x *= 2, runs++) {
                        double is = comm_of(geijn, n, q, x, b, outer, &profile);
                        two += !model_near(is, hsumma(geijn, (double)n, q, x, (double)b, (double)outer, alpha, beta));
                        if (outer > b)
                            continue;
                        ends += (x == 1 || x == q) && is != plain;
                        mirrored += !model_near(is, comm_of(geijn, n, q, q / x, b, b, &profile));
                    }
                }
        for (size_t i = 0; i < sizeof large / sizeof *large; i++)
            for (int x = 1; x <= large[i].q; x *= 2, runs++) {
                double is = comm_of(geijn, large[i].n, large[i].q, x, large[i].b, large[i].outer, &profile);
                two += !model_near(is, hsumma(geijn, (double)large[i].n, large[i].q, x, (double)large[i].b,
                                              (double)large[i].outer, alpha, beta));
            }
        tap_ok(!summa, "SUMMA costs what the paper says, %s, p = 16 to 1,024: %d are off", names[geijn], summa);
        tap_ok(!two, "HSUMMA costs what the paper says, B = b to 16 b (%d group counts): %d are off", runs, two);
        tap_ok(!ends, "G = 1 and G = p with B = b cost exactly what SUMMA costs: %d do not", ends);
        tap_ok(!mirrored, "f(G) = f(p/G) with B = b: %d are off", mirrored);
    }
}

/* Van de Geijn's broadcast with B = b. Returns 1 if more groups along each axis, up to sqrt(q), always cost less, -1 if
 * they always cost more, else 0. *ratio: the cost without groups divided by the cost with the most groups. */
static int verdict(int64_t n, int q, int64_t b, double alpha, double beta, double *ratio)
{
    struct hs_profile profile = paper_machine(alpha, beta);
    int down = 1, up = 1;
    double before = comm_of(1, n, q, 0, b, b, &profile), first = before;
    for (int x = 2; x * x <= q; x *= 2) {
        double now = comm_of(1, n, q, x, b, b, &profile);
        down &= now < before * (1 - 1e-9);
        up &= now > before * (1 + 1e-9);
        before = now;
    }
    if (ratio)
        *ratio = first / before;
    return down - up;
}

static void conditions(void)
{
    int wrong = 0, level = 0, runs = 0;
    for (int q = 4; q <= 64; q *= 2)
        for (int64_t b = 8; b <= 64; b *= 8, runs++) {
            int64_t n = 64 * q;
            double border = 2.0 * (double)(n * b) / (q * q), beta = 2e-9;
            struct hs_profile even = paper_machine(border * beta, beta / 8);
            wrong += verdict(n, q, b, border * beta * 1.001, beta / 8, NULL) != 1;
            wrong += verdict(n, q, b, border * beta * 0.999, beta / 8, NULL) != -1;
            for (int x = 2; x < q; x *= 2)
                level += !model_near(comm_of(1, n, q, x, b, b, &even), comm_of(1, n, q, 0, b, b, &even));
        }
    tap_ok(!wrong, "alpha/beta 0.1 %% above 2nb/p: G = sqrt(p) is the least, below: the most (%d borders); %d wrong",
           runs, wrong);
    tap_ok(!level, "at alpha/beta = 2nb/p all G cost the same: %d do not", level);
    static const struct {
        const char *name;
        double alpha, beta;
        int64_t n, b;
        int q, per_element, per_byte; /* expected verdict, with beta per element and per byte */
    } rows[] = {
        {"Graphene", 1e-4, 1e-9, 8192, 64, 8, 1, -1},       {"Graphene", 1e-4, 1e-9, 8192, 64, 16, 1, 1},
        {"Graphene", 1e-4, 1e-9, 8192, 512, 8, -1, -1},     {"Graphene", 1e-4, 1e-9, 8192, 512, 16, 1, -1},
        {"BlueGene/P", 3e-6, 1e-9, 65536, 256, 64, -1, -1}, {"BlueGene/P", 3e-6, 1e-9, 65536, 256, 128, 1, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double gain[2], border = 2.0 * (double)(rows[i].n * rows[i].b) / (rows[i].q * rows[i].q);
        int element = verdict(rows[i].n, rows[i].q, rows[i].b, rows[i].alpha, rows[i].beta / 8, &gain[0]);
        int byte = verdict(rows[i].n, rows[i].q, rows[i].b, rows[i].alpha, rows[i].beta, &gain[1]);
        int says = rows[i].alpha / rows[i].beta > border ? 1 : -1;
        int says_byte = rows[i].alpha / (8 * rows[i].beta) > border ? 1 : -1;
        tap_ok(element == rows[i].per_element && byte == rows[i].per_byte && element == says && byte == says_byte,
               "%s, b = %d, p = %d: beta per element: %s (SUMMA / HSUMMA %.2f), per byte: %s (%.2f)%s", rows[i].name,
               (int)rows[i].b, rows[i].q * rows[i].q, element > 0 ? "least" : "most", gain[0],
               byte > 0 ? "least" : "most", gain[1], element != byte ? ": it flips" : "");
    }
}

/* A machine with nodes, and a product on a 4 x 4 grid: A (m x k) moves along rows, B (k x n) along columns, 16 panels.
 */
static const struct hs_machine cluster = {
    .alpha = 5e-6, .beta = 1e-9, .inject = 0.6e-9, .node = {.alpha = 1e-6, .beta = 0.2e-9}};
static const struct model_product tall = {HSUMMA_D, "NNN", {4, 4}, {-1, -1}, {512, 2048, 1024}, {{0}}, {0}};
static const struct model_how panels_of_64 = {.stationary = HS_C, .levels = 0, .groups = {1, 1}, .block = 64};

static double inside(double bytes)
{
    return cluster.node.alpha + bytes * cluster.node.beta;
}

/* Seconds of a message between nodes while `together` lines use the node's link. */
static double between(double bytes, double together)
{
    return cluster.alpha + bytes * fmax(cluster.beta, together * cluster.inject);
}

static struct hs_prediction predict_on_nodes(const struct hs_machine *machine, const int *node,
                                             const struct model_product *product, const struct model_how *how)
{
    struct hs_profile profile = {.machine = *machine, .threads = 1, .knee = 256};
    struct hs_topology topology;
    struct hs_prediction is = {.comm = NAN};
    if (hs_topology_make(&topology, 16, node, NULL, &hs_heap) == HSUMMA_OK)
        is = model_predict(product, how, &profile, &topology);
    hs_topology_free(&topology, &hs_heap);
    return is;
}

static double on_nodes(const int *node, const struct model_product *product)
{
    return predict_on_nodes(&cluster, node, product, &panels_of_64).comm;
}

static void topologies(void)
{
    const double a = 8.0 * 64 * 128, b = 8.0 * 64 * 512; /* bytes of a panel of A, of B */
    struct hs_profile profile = {.machine = cluster, .threads = 1, .knee = 256};
    struct model_product grid = tall;
    int block[16], cyclic[16], half[16], one[16];
    for (int i = 0; i < 16; i++) {
        block[i] = i / 4;
        cyclic[i] = i % 4;
        half[i] = i / 8;
        one[i] = 7;
    }
    profile.one_node = 1;
    double shared = model_predict(&grid, &panels_of_64, &profile, NULL).comm, want = 16 * 2 * (inside(a) + inside(b));
    tap_ok(model_near(shared, want) && model_near(on_nodes(one, &grid), want),
           "on one node all messages cost what a node's cost");
    profile.one_node = 0;
    want = 16 * 2 * (between(a, 1) + between(b, 1));
    tap_ok(model_near(model_predict(&grid, &panels_of_64, &profile, NULL).comm, want),
           "each process on its own node: all messages cost what the network's cost");
    double in_block = on_nodes(block, &grid), in_turn = on_nodes(cyclic, &grid);
    tap_ok(model_near(in_block, 16 * 2 * (inside(a) + between(b, 4))),
           "a row of the grid is a node: rows cost a node's links, four columns share each node's way out");
    tap_ok(model_near(in_turn, 16 * 2 * (inside(b) + between(a, 4))) && in_turn < in_block,
           "dealt out to the nodes in turn: the other way round, and cheaper when B is larger than A");
    double alone = 16 * (2 * inside(a) + between(b, 1) + inside(b)), shares = on_nodes(half, &grid);
    tap_ok(shares >= alone * (1 - 1e-9) && shares <= alone + 16 * (2 * between(b, 4) - between(b, 1)),
           "two rows of the grid are a node: a column leaves it with other columns");
    int odd[16] = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; /* the first row spans more nodes than the last */
    double least = 16 * (inside(a) + between(a, 1) + 2 * between(b, 1)), uneven = on_nodes(odd, &grid);
    tap_ok(uneven >= least * (1 - 1e-9) && uneven <= 16 * (inside(a) + between(a, 7) + 2 * between(b, 14)),
           "nodes of several sizes: the line that spans most nodes, and shares a way out");
    int middle[16] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; /* only the second row spans two nodes */
    grid.size[HS_N] = 16;                                              /* B is small */
    least = 16 * (inside(a) + between(a, 1));
    uneven = on_nodes(middle, &grid);
    tap_ok(uneven >= least * (1 - 1e-9) && uneven <= 16 * 2 * (between(a, 4) + between(b, 4)),
           "neither the first nor the last line: the one that spans most nodes");
}

/* Roots change from panel to panel. A line of 8 is priced on nodes of 2 for both roots of a node, on nodes of 4 for a
 * root in the middle of a node. The longest path from this root has one more message between nodes than the longest
 * path from the first process of a node. */
static void roots(void)
{
    struct model_product row = tall;
    int twos[16], fours[16];
    row.extent[0] = 2;
    row.extent[1] = 8;
    row.size[HS_N] = 0;
    for (int i = 0; i < 16; i++) {
        twos[i] = i / 2;
        fours[i] = i / 4;
    }
    double bytes = 8.0 * 64 * 256, in = inside(bytes), out = between(bytes, 1);
    tap_ok(model_near(on_nodes(twos, &row), 16 * (2.5 * out + 0.5 * in)) &&
               model_near(on_nodes(fours, &row), 16 * (2 * out + in)),
           "a line with several processes to a node: the price from a typical root");
}

/* An exchange of the transposed A. The rows of op(A) have other blocks than C's, so every holder sends a part to every
 * taker. */
static void exchanges(void)
{
    struct model_product product = model_product_square(512, 4);
    struct hs_profile profile = paper_machine(2e-6, 1e-9), apart = profile;
    struct model_how root = panels_of_64, all = panels_of_64, none = panels_of_64;
    double part = 128.0 * 128 * 8, line = 128.0 * 512 * 8, panels = 8;
    product.op[HS_A] = 'T';
    product.block[HS_A][1] = 16;
    all.spread = 1;
    profile.machine.copy = apart.machine.copy = 3e-10;
    apart.exchange_alpha = 7e-6;
    struct hs_prediction to_root = model_predict(&product, &root, &profile, NULL);
    struct hs_prediction to_all = model_predict(&product, &all, &profile, NULL);
    struct hs_prediction slower = model_predict(&product, &root, &apart, NULL);
    product.op[HS_A] = 'N';
    product.block[HS_A][1] = 0;
    struct hs_prediction plain = model_predict(&product, &none, &profile, NULL);
    double broadcasts = panels * 2 * (2e-6 + 128 * 64 * 8 * 1e-9); /* of one operand: two rounds per panel */
    tap_ok(model_near(plain.comm, 2 * broadcasts), "as stored: two broadcasts for each panel");
    tap_ok(model_near(to_root.comm - 2 * broadcasts, panels * 4 * 2e-6 + line * 1e-9) &&
               model_near(to_all.comm - broadcasts, panels * 15 * 2e-6 + 15 * line / 4 * 1e-9),
           "an exchange costs the messages of each panel, one behind the other, and what a holder gives others");
    tap_ok(slower.comm > to_root.comm, "and more where what is measured for exchanges is slower");
    tap_ok(model_near(to_root.copy - plain.copy, 2 * part * 3e-10) &&
               model_near(to_all.copy - plain.copy, (part + line) * 3e-10),
           "what is packed and unpacked is copied");
    tap_ok(strcmp(to_root.operand[HS_A].how, "exchanged and broadcast") == 0 &&
               strcmp(to_all.operand[HS_A].how, "exchanged") == 0 &&
               strcmp(plain.operand[HS_A].how, "broadcast") == 0 && strcmp(plain.operand[HS_C].how, "stays") == 0 &&
               model_near(to_root.operand[HS_A].exchange_seconds, to_root.comm - plain.comm),
           "and how each operand moves is said");
    product.op[HS_A] = 'T';
    product.extent[0] = 2;
    product.extent[1] = 8;
    profile.machine.alpha = 0;
    tap_ok(model_near(model_predict(&product, &root, &profile, NULL).operand[HS_A].exchange_seconds,
                      512.0 * 512 * 8 / 2 * 1e-9),
           "on 2 x 8 processes one of two takers has most to do");
}

/*
 * The pace of an exchange of the transposed A: four holders in a grid row; four takers in a column or, with spread, all
 * processes.
 * The price covers the bytes of all panels through the busiest port or node, which sends or receives a part of each
 * panel, some of it inside its node.
 */
static void exchange_paces(void)
{
    enum { APART, ROWS, COLUMNS }; /* every process on its own node; nodes are grid rows; nodes are grid columns */
    static const struct {
        int nodes, spread;
        double inject, pace; /* pace: expected value, in units of beta */
        const char *what;
    } rows[] = {
        {APART, 0, 0, 1 / 4.0, "each process on its own node: a holder gives a quarter"},
        {APART, 1, 0, 15 / 16.0 / 4, "each process on its own node, to all: a holder gives a quarter, less its own"},
        {ROWS, 0, 0, 1 / 4.0, "holders on one node: a taker elsewhere gets a quarter"},
        {ROWS, 1, 0, (12 / 16.0 + 3 / 16.0 * 0.2) / 4,
         "holders on one node, to all: of a holder's part three of 16 stay inside, and one is its own"},
        {COLUMNS, 0, 0, 1 / 4.0, "takers on one node: a holder elsewhere gives a quarter"},
        {ROWS, 0, 0.6, 3 / 4.0 * 0.6, "holders on one node: three quarters leave it"},
        {COLUMNS, 0, 0.6, 3 / 4.0 * 0.6, "takers on one node: three quarters come into it"},
        {ROWS, 1, 0.6, 3 / 4.0 * 0.6, "holders on one node, to all: three quarters leave it"},
    };
    struct model_product product = model_product_square(512, 4);
    product.op[HS_A] = 'T';
    product.block[HS_A][1] = 16;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct model_how how = panels_of_64;
        struct hs_machine machine = cluster;
        int node[16];
        for (int r = 0; r < 16; r++)
            node[r] = rows[i].nodes == ROWS ? r / 4 : rows[i].nodes == COLUMNS ? r % 4 : r;
        how.spread = rows[i].spread;
        machine.inject = rows[i].inject * machine.beta;
        double bytes = 512.0 * 512 * 8 * (how.spread ? 4 : 1), messages = 8 * (how.spread ? 15 : 4);
        double is = predict_on_nodes(&machine, node, &product, &how).operand[HS_A].exchange_seconds;
        tap_ok(model_near(is, messages * machine.alpha + bytes * rows[i].pace * machine.beta), "exchange, %s",
               rows[i].what);
    }
}

static const struct hs_gemm_cost cost = {.flop = 2e-11, .c = 6e-10, .ab = 1e-9, .call = 3e-6};

static double one_call(double m, double n, double k, double knee)
{
    return cost.call + 2 * m * n * k * cost.flop + cost.c * m * n * fmax(1, k / knee) + cost.ab * (m * k + k * n);
}

static void multiplications(void)
{
    struct hs_profile profile = {
        .gemm = {cost, {.flop = 1e-11, .c = 3e-10, .ab = 5e-10, .call = 1e-6}}, .threads = 2, .knee = 256};
    static const double shape[] = {64, 255, 256, 257, 1024};
    int wrong = 0;
    for (int i = 0; i < 5; i++)
        wrong += !model_near(hs_gemm_seconds(&profile, 8, 0, 2, 100, 50, shape[i]), one_call(100, 50, shape[i], 256));
    tap_ok(!wrong, "a call: flops, passes over C for each knee of k, what is packed, and the call: %d wrong", wrong);
    double twice = one_call(100, 50, 512, 256);
    tap_ok(model_near(hs_gemm_seconds(&profile, 8, 0, 1, 100, 50, 512), 2 * twice) &&
               model_near(hs_gemm_seconds(&profile, 8, 0, 8, 100, 50, 512), twice / 4) &&
               model_near(hs_gemm_seconds(&profile, 8, 0, 0, 100, 50, 512), 2 * twice),
           "other numbers of threads than were measured in proportion; none said: one");
    double four = cost.call + 4 * 2 * 100 * 50 * 512 * cost.flop + 2 * (cost.c * 100 * 50 * 2 + cost.ab * 150 * 512);
    double single = 1e-6 + 4 * 2 * 100 * 50 * 512 * 1e-11 + 2 * (3e-10 * 100 * 50 * 2 + 5e-10 * 150 * 512);
    tap_ok(model_near(hs_gemm_seconds(&profile, 16, 1, 2, 100, 50, 512), four) &&
               model_near(hs_gemm_seconds(&profile, 8, 1, 2, 100, 50, 512), single) &&
               model_near(hs_gemm_seconds(&profile, 4, 0, 2, 100, 50, 512),
                          1e-6 + 2 * 100 * 50 * 512 * 1e-11 + 3e-10 * 100 * 50 * 2 + 5e-10 * 150 * 512),
           "complex: four flops for one, two reals; single precision has its own cost");
    profile.threads = 1;
    struct model_product product = {HSUMMA_D, "NNN", {2, 4}, {-1, -1}, {600, 800, 1024}, {{0}}, {0}};
    const struct {
        struct model_how how;
        double seconds;
        const char *what;
    } rows[] = {
        {panels_of_64, 16 * one_call(300, 200, 64, 256), "C stays: 16 calls of its part by panels of 64"},
        {{.stationary = HS_A, .levels = 0, .groups = {1, 1}, .block = 100},
         8 * one_call(300, 100, 256, 256),
         "A stays: 8 calls with panels of 100 columns of B"},
        {{.stationary = HS_B, .levels = 0, .groups = {1, 1}, .block = 100},
         6 * one_call(100, 200, 512, 256),
         "B stays: 6 calls with panels of 100 rows of A, in two passes over C"},
        {{.stationary = HS_C, .levels = 1, .groups = {1, 2}, .outer = 128, .block = 32},
         32 * one_call(300, 200, 32, 256),
         "two levels: panels of the inner width"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(model_near(model_predict(&product, &rows[i].how, &profile, NULL).gemm, rows[i].seconds), "%s",
               rows[i].what);
}

/* Sizes that are not multiples of a panel's width, and operands that are not in place. */
static void odd_ends(void)
{
    struct hs_profile profile = paper_machine(2e-6, 1e-9);
    struct model_product product = model_product_square(400, 2);
    struct model_how how = {.stationary = HS_C, .levels = 0, .groups = {1, 1}, .block = 64};
    double whole = 2e-6 + 64 * 200 * 8 * 1e-9, rest = 2e-6 + 8 * 200 * 8 * 1e-9;
    tap_ok(model_near(model_predict(&product, &how, &profile, NULL).comm, 2 * 2 * (3 * whole + rest)),
           "each of two owners has 200 = 3 panels of 64 and one of 8");
    how.block = 1000;
    tap_ok(model_near(model_predict(&product, &how, &profile, NULL).comm, 2 * 2 * (2e-6 + 200 * 200 * 8 * 1e-9)),
           "a panel is no wider than what an owner has");
    profile.machine.copy = 1e-9;
    tap_ok(model_predict(&product, &how, &profile, NULL).copy == 0, "what lies as it is wanted is not copied");
    product.block[HS_A][1] = 50; /* columns of A; B's blocks in k are 200 */
    tap_ok(model_near(model_predict(&product, &how, &profile, NULL).copy, 200 * 200 * 8 * 1e-9),
           "what an owner has in pieces is gathered: here B, whose blocks are longer");
    product.block[HS_A][1] = 0;
    how.stationary = HS_A;
    double partial = 400 * 200, own = 200 * 200;
    tap_ok(model_near(model_predict(&product, &how, &profile, NULL).copy, (partial + 2 * own + own) * 8 * 1e-9),
           "a C that moves: partial panels are written, and added to it; B is packed, and arrives as it is stored");
    product.block[HS_B][0] = 50; /* rows of B; A's blocks in k are 200 */
    tap_ok(model_near(model_predict(&product, &how, &profile, NULL).copy, (partial + 2 * own + 2 * own) * 8 * 1e-9),
           "B is packed and unpacked where a process receives it from several");
}

/*
 * The cost of consecutive panels of A and B, of which `window` of each are in flight. A window takes at least as long
 * as the busiest port works for all its panels, or for one if that is longer, and at most as if one panel waited for
 * the others, which counts by half if all of the saving counts (pipelining 1), otherwise fully; and then the rest of
 * one panel's way. The waits of A and B partly add up.
 */
struct way {
    double one, each; /* seconds of the busiest port: for one panel, for each of a window */
    double rest;      /* seconds of a panel's way beyond them */
};
static double wait_of(struct way way, double window, double waits)
{
    double least = fmax(way.one, window * way.each) - (window - 1) * way.each;
    return (waits * way.one + (1 - waits) * least + way.rest) / window;
}
static double in_a_row(double all, struct way a, struct way b, double first, double window, double panels,
                       double pipelining)
{
    double waits = pipelining < 1 ? 1 : 0.5, wait[] = {wait_of(a, window, waits), wait_of(b, window, waits)};
    double each = (a.each + b.each) * (1 - 1 / window) + fmax(wait[0], wait[1]) + 0.25 * fmin(wait[0], wait[1]);
    return all - pipelining * fmax(0, all - first - (panels - 1) * each);
}

static void overlap(void)
{
    struct hs_profile profile = {.overlap = 0.75};
    struct hs_spec now = {.lookahead = 0}, ahead = {.lookahead = 1};
    tap_ok(model_near(hs_together(&profile, &now, 5, 1, 3, 0.5), 8.5), "without lookahead all times add up");
    tap_ok(model_near(hs_together(&profile, &ahead, 5, 1, 3, 0.5), 8.5 - 0.75 * 3) &&
               model_near(hs_together(&profile, &ahead, 5, 1, 30, 0.5), 35.5 - 0.75 * 4) &&
               model_near(hs_together(&profile, &ahead, 1, 2, 30, 0.5), 31.5),
           "with it, multiplications hide the profile's share of what comes after the first panels");
    profile.one_node = 1;
    tap_ok(model_near(hs_together(&profile, &ahead, 5, 1, 3, 0.5), 8.5), "inside a node nothing is hidden");
    struct hs_profile slow = paper_machine(2e-6, 1e-9);
    struct model_product product = model_product_square(1024, 4);
    struct model_how how = panels_of_64;
    slow.gemm[0] = cost;
    slow.machine.copy = 1e-10;
    slow.overlap = 0.5;
    product.block[HS_A][1] = 32;
    how.lookahead = 1;
    struct hs_prediction is = model_predict(&product, &how, &slow, NULL);
    /* t is the time of one message; every panel needs two, one after the other. Panels of A have different roots, so
     * the busiest port sends two messages for two panels. Four panels of B have one root, which sends two each. */
    double t = 2e-6 + 64 * 256 * 8 * 1e-9;
    double comm = in_a_row(64 * t, (struct way){2 * t, t, 0}, (struct way){2 * t, 2 * t, 0}, 4 * t, 2, 16, 2 / 3.0);
    /* a panel has one multiplication for two messages and a poll between them (stalls); B's wait adds a tenth */
    double each = is.gemm / 16, x = (2 * t + each) / each, late = 1.1 * 0.65 * each * x * x / (x * x + 1.5 * 1.5);
    double hidden = is.gemm + is.copy + is.comm - 0.5 * fmin(is.comm - 4 * t, is.gemm);
    tap_ok(model_near(is.comm, comm) && is.copy > 0 &&
               model_near(is.seconds, fmax(hidden, is.comm + each + 15 * late + is.copy)),
           "a product of 16 panels: all but the first of A and of B can be hidden, but not the last multiplication");
    slow.overlap = 0.25;
    is = model_predict(&product, &how, &slow, NULL);
    tap_ok(model_near(is.seconds, is.gemm + is.copy + is.comm - 0.25 * fmin(is.comm - 4 * t, is.gemm)),
           "  less is hidden where the profile says so");
}

/*
 * Panels in flight together. A chain of 4 processes passes on one message at a time, and completes after 3. While the
 * root stays, its port has one message per panel; so has the second process's port while two or three consecutive
 * ranks are roots. With four roots in turn a port has three messages for four panels. Between messages of different
 * broadcasts the port is idle for `overhead` seconds instead of alpha, if it is known.
 */
static void windows(double overhead, double pipelining)
{
    static const int windows[] = {1, 2, 3, 4, 17};
    struct hs_profile profile = paper_machine(2e-6, 1e-9);
    struct model_product product = model_product_square(1024, 4);
    double message = 2e-6 + 64 * 256 * 8 * 1e-9, panels = 16;
    product.size[HS_N] = 4; /* B is small: messages of 64 numbers */
    double small = 2e-6 + 64 * 8 * 1e-9;
    double both = message + small, apart = overhead > 0 ? 2e-6 - overhead : 0;
    profile.machine.overhead = overhead;
    profile.pipelining = pipelining;
    for (int turn = 1; turn <= 4; turn *= 2) { /* panels in a turn; one root has four panels */
        struct model_how how = {.stationary = HS_C,
                                .levels = 0,
                                .groups = {1, 1},
                                .block = 64,
                                .bcast = "chain",
                                .turn = turn == 4 ? 0 : turn * 64};
        int wrong = 0;
        for (int i = 0; i < 5; i++) {
            int roots = windows[i] / turn;
            double times = roots < 4 ? 1 : 0.75, less = roots < 2 ? 0 : apart;
            struct way a = {message, (message - less) * times, 2 * message},
                       b = {small, (small - less) * times, 2 * small};
            how.lookahead = windows[i] - 1;
            double all = panels * 3 * both,
                   want = i == 0 ? all : in_a_row(all, a, b, 3 * both, windows[i], panels, pipelining);
            wrong += !model_near(model_predict(&product, &how, &profile, NULL).comm, want);
            how.lookahead = 0; /* without lookahead, as many owners cost the same, and hide nothing */
            how.owners = windows[i];
            struct hs_prediction blocking = model_predict(&product, &how, &profile, NULL);
            wrong +=
                !model_near(blocking.comm, want) || !model_near(blocking.seconds, want + blocking.gemm + blocking.copy);
            how.owners = 0;
        }
        tap_ok(
            !wrong,
            "panels in flight take as long as ports are at work, and one of each window the rest of its way; %d in a "
            "row have one root: %d wrong",
            turn, wrong);
    }
    struct model_how how = {
        .stationary = HS_C, .levels = 0, .groups = {1, 1}, .block = 64, .bcast = "chain", .lookahead = 16};
    profile.machine.node = profile.machine.network;
    profile.one_node = 1;
    tap_ok(model_near(model_predict(&product, &how, &profile, NULL).comm, panels * 3 * (message + small)),
           "inside a node one after the other");
}

/*
 * Multiplications that wait for panels on their way to other processes. On a line of 4 processes a panel's message is
 * passed on `rounds` times, the last time when it is needed, and each time up to a slice of a multiplication later.
 */
static void stalls(void)
{
    static const struct {
        const char *bcast;
        int64_t segment;
        int rounds;
    } rows[] = {{"flat", 0, 1},
                {"binomial", 0, 2},
                {"chain", 0, 3},
                {"bidirectional_chain", 16 << 10, 4 / 2 + 2}, /* four segments each way, two at a time */
                {"van_de_geijn", 0, 3},                       /* a ring; the scatter before it takes fewer */
                {"chain", 16 << 10, 8 / 2 + 2}};              /* eight segments, two at a time */
    struct hs_profile profile = paper_machine(2e-6, 1e-9);
    struct model_product product = model_product_square(1024, 4);
    profile.gemm[0] = (struct hs_gemm_cost){.flop = 1e-7};
    profile.overlap = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int wrong = 0;
        for (int sliced = 0; sliced < 2; sliced++)
            for (int lookahead = 0; lookahead < 4; lookahead++) {
                struct model_how how = panels_of_64;
                how.bcast = rows[i].bcast;
                how.segment = rows[i].segment;
                how.lookahead = lookahead;
                how.slice = sliced ? 2 * 256 * 64 * 96 : 0; /* of 96 columns */
                struct hs_prediction is = model_predict(&product, &how, &profile, NULL);
                /* with lookahead L a panel has L multiplications for its polls (doc/design.md, "Panels that wait") */
                double poll = sliced ? 96 / 256.0 : 1, waits = rows[i].rounds - 1, late = 0;
                if (lookahead) {
                    double need = waits * poll / lookahead, half = 1.5 * pow(lookahead, -0.2);
                    late = 0.65 * pow(lookahead, -0.4) * need * need / (need * need + half * half);
                }
                /* all but less than a permille of the messages is hidden */
                double want = 1 + late * 15 / 16 * 1.1; /* by A, and a tenth as much by B */
                wrong += fabs(is.seconds - want * is.gemm) > 1e-3 * is.gemm;
            }
        tap_ok(!wrong, "%s, segments of %d: panels are late by the polls that they need: %d wrong", rows[i].bcast,
               (int)rows[i].segment, wrong);
    }
    struct model_how how = panels_of_64;
    how.bcast = "chain";
    how.lookahead = 1;
    profile.device_panel = 64;
    struct hs_prediction on_device = model_predict(&product, &how, &profile, NULL);
    profile.device_panel = 0;
    profile.one_node = 1;
    struct hs_prediction inside_node = model_predict(&product, &how, &profile, NULL);
    tap_ok(fabs(on_device.seconds - on_device.gemm) < 1e-3 * on_device.gemm &&
               model_near(inside_node.seconds, inside_node.gemm + inside_node.comm + inside_node.copy),
           "nothing waits for polls while a device multiplies, nor inside a node");
}

int main(void)
{
    closed_forms();
    conditions();
    topologies();
    roots();
    exchanges();
    exchange_paces();
    multiplications();
    odd_ends();
    overlap();
    windows(0, 2 / 3.0);
    windows(0, 1);
    windows(5e-7, 2 / 3.0);
    stalls();
    return tap_done();
}
