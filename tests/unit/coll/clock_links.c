/* The clock with separate prices of long messages, on machines that are faster in one parameter, and the loads of ports
 * (hs_clock_load). */
#include "support/coll/sweep.h"
#include "support/random.h"
#include "support/tap.h"

#include <math.h>
#include <stdlib.h>

enum { EAGER = 4096 };

static const struct hs_machine two_prices = {
    .network = {.alpha = 3e-6, .beta = 1.1e-9, .eager = EAGER, .alpha_long = 9e-6, .beta_long = 0.6e-9}};

static double price(const struct hs_link *link, double bytes)
{
    return bytes > (double)link->eager ? link->alpha_long + bytes * link->beta_long : link->alpha + bytes * link->beta;
}

static void closed_forms(void)
{
    const struct hs_alg *binomial = hs_alg_find(HS_BCAST, "binomial"), *halves = hs_alg_find(HS_BCAST, "van_de_geijn");
    const struct hs_link *link = &two_prices.network;
    int good = 1, mixed = 0, parted = 1;
    for (int q = 2, rounds = 1; q <= 128; q *= 2, rounds++)
        for (int64_t bytes = EAGER / 8; bytes <= 512 * EAGER; bytes *= 2) {
            struct hs_shape shape = {.size = q, .bytes = bytes, .unit = 8};
            good &= same_price(price_of(binomial, &shape, &two_prices, NULL), rounds * price(link, (double)bytes));
            shape.bytes += 8;
            good &= same_price(price_of(binomial, &shape, &two_prices, NULL), rounds * price(link, (double)bytes + 8));
            if (bytes % (8 * q))
                continue;
            shape.bytes = bytes;
            double want = (q - 1) * price(link, (double)bytes / q);
            for (int part = 2; part <= q; part *= 2)
                want += price(link, (double)bytes / part);
            parted &= same_price(price_of(halves, &shape, &two_prices, NULL), want);
            mixed += bytes / q <= EAGER && bytes / 2 > EAGER;
        }
    tap_ok(good, "binomial: log2 q messages, above `eager` bytes each for alpha_long + n beta_long");
    tap_ok(parted && mixed > 20, "van de Geijn: halves by rendezvous, parts eagerly (%d such shapes)", mixed);
}

/* Rank 0 sends `segment` bytes to rank 2, and rank 1 `bytes` bytes to rank 3; ranks 0 and 1 are on one node. */
static void build_two(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t bytes = shape->rank % 2 ? shape->bytes : shape->segment;
    if (shape->rank < 2)
        hs_emit_send(builder, shape->rank + 2, hs_out(0), bytes, -1);
    else
        hs_emit_recv(builder, shape->rank - 2, hs_out(0), bytes, -1);
}

static double two(int64_t first, int64_t second, int nodes, const struct hs_machine *machine)
{
    struct hs_alg alg = {
        .collective = HS_BCAST, .name = "two", .flags = HS_TRUE_ROOT | HS_USES_SEGMENT, .build = build_two};
    struct hs_topology topology = topology_blocks(4, nodes, 2, 0, 0);
    struct hs_shape shape = {.size = 4, .bytes = second, .segment = first, .unit = 8, .topology = &topology};
    double is = price_of(&alg, &shape, machine, NULL);
    hs_topology_free(&topology, &hs_heap);
    return is;
}

static void sharing(void)
{
    struct hs_machine m = two_prices;
    int good = 1;
    for (m.inject = 0.2e-9; m.inject < 3e-9; m.inject *= 1.7)
        for (int64_t bytes = EAGER / 4; bytes <= 4 * EAGER; bytes += EAGER / 4) {
            int is_long = bytes > EAGER;
            double n = (double)bytes, beta = is_long ? m.network.beta_long : m.beta;
            good &= same_price(two(bytes, bytes, 2, &m),
                               (is_long ? m.network.alpha_long : m.alpha) + fmax(2 * n * m.inject, n * beta));
        }
    tap_ok(good, "two messages leave a node together in alpha + max(2 n inject, n beta), both of their length");

    /* While both messages are in flight, the long one takes 2 inject per byte; after the short one, which is limited by
     * beta, has left, it takes inject per byte. */
    m = (struct hs_machine){
        .network = {.alpha = 1e-6, .beta = 2e-9, .eager = EAGER, .alpha_long = 1e-6, .beta_long = 0.5e-9},
        .inject = 0.6e-9};
    double together = 4000 * m.beta, rest = 40000 - together / (2 * m.inject);
    good = same_price(two(4000, 40000, 2, &m), m.alpha + together + rest * m.inject);
    good &= same_price(two(40000, 4000, 2, &m), m.alpha + together + rest * m.inject);
    tap_ok(good, "a short and a long one share, each no faster than its own beta");
}

static void places(void)
{
    struct hs_machine m = {
        .network = {.alpha = 4e-6, .beta = 2e-9},
        .node = {.alpha = 1e-6, .beta = 1e-9, .eager = EAGER, .alpha_long = 5e-6, .beta_long = 3e-10}};
    int good = 1;
    for (int64_t bytes = EAGER / 2; bytes <= 4 * EAGER; bytes += EAGER / 2) {
        good &= same_price(two(bytes, bytes, 1, &m), price(&m.node, (double)bytes));
        good &= same_price(two(bytes, bytes, 2, &m), 4e-6 + (double)bytes * 2e-9);
    }
    tap_ok(good, "every link has an `eager` of its own");
}

/* The i-th parameter of a machine. */
static double *part_of(struct hs_machine *m, int i)
{
    struct hs_link *const link[] = {&m->network, &m->node, &m->socket, &m->shm};
    double *const other[] = {&m->gamma, &m->copy, &m->inject, &m->signal};
    if (i >= 20)
        return NULL;
    if (i >= 16)
        return other[i - 16];
    return (double *const[]){&link[i / 4]->alpha, &link[i / 4]->beta, &link[i / 4]->alpha_long,
                             &link[i / 4]->beta_long}[i % 4];
}

static void draw_machine(struct hs_machine *m, int inject)
{
    double *part;
    *m = (struct hs_machine){.ports = 1 + (int)(3 * draw_fraction())};
    m->network.eager = draw_fraction() < 0.5 ? 0 : 512;
    m->node.eager = draw_fraction() < 0.5 ? 0 : 256;
    for (int i = 0; (part = part_of(m, i)); i++)
        *part = (i < 16 && i % 2 == 0 ? 5e-6 : 5e-9) * (0.01 + draw_fraction() * draw_fraction());
    m->inject *= inject;
    m->signal *= 100;
}

/* Makes the machine faster in one parameter at a time. Returns the largest relative slowdown; adds the number of errors
 * to *bad. */
static double slower(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine, int *bad)
{
    struct hs_clock_report report;
    struct hs_machine faster = *machine;
    double *part, most = 0, before = price_of(alg, shape, machine, NULL);
    *bad += hs_clock(alg, shape, machine, &hs_heap, &report) != HSUMMA_OK || report.seconds != before;
    for (int i = 0; (part = part_of(&faster, i)); i++, faster = *machine) {
        *part *= draw_fraction() < 0.3 ? 0.999 : 0.05 + 0.95 * draw_fraction();
        double after = price_of(alg, shape, &faster, NULL);
        *bad += after < 0;
        most = before > 0 ? fmax(most, after / before - 1) : most;
    }
    return most;
}

/* The largest relative slowdown over all algorithms, each on `draws` random machines; HUGE_VAL on an error. */
static double monotonous(int inject, int draws)
{
    const struct hs_alg *alg;
    double most = 0;
    int runs = 0, bad = 0, at = 0, rows = 0;
    for (int i = 0; (alg = hs_alg_at(i)); i++)
        for (int turn = 0; turn < draws; turn++) {
            int q = 1 + (int)(draw_fraction() * draw_fraction() * 40), nodes = 1 + (int)(draw_fraction() * q);
            struct hs_shape shape = {.size = q, .root = (int)(draw_fraction() * q), .unit = 8, .segment = 256};
            struct hs_topology topology = topology_blocks(q, nodes, 2, draw(2) * 512, draw(2));
            struct hs_machine machine;
            shape.topology = draw_fraction() < 0.2 ? NULL : &topology;
            shape.bytes = 8 * (int64_t)(draw_fraction() * draw_fraction() * 400);
            draw_machine(&machine, inject);
            if (!(alg->flags & HS_BY_MPI) && !hs_alg_unfit(alg, &shape)) {
                double by = slower(alg, &shape, &machine, &bad);
                at = by > most ? i : at;
                most = fmax(most, by);
                runs++;
            }
            hs_topology_free(&topology, &hs_heap);
        }
    for (rows = 0; hs_alg_at(rows);)
        rows++;
    tap_diag("%d shapes of %d rows, %s inject: at most %.3g slower (%s %s)", runs, rows, inject ? "with" : "without",
             most, hs_collective_name(hs_alg_at(at)->collective), hs_alg_at(at)->name);
    return bad || runs < draws * rows / 2 ? HUGE_VAL : most;
}

/* The number of messages through the busiest port per broadcast, if `roots` consecutive ranks are roots in turn;
 * counted in the schedules. */
static double busiest(const struct hs_alg *alg, int size, int roots)
{
    int most = 0, sent[2][16] = {{0}}; /* by direction: out, in */
    for (int root = 0; root < roots; root++)
        for (int r = 0; r < size; r++) {
            struct hs_shape shape = {.size = size, .rank = r, .bytes = 8, .unit = 8};
            struct hs_list list;
            if (hs_build(alg, &shape, &hs_heap, &list))
                return -1;
            for (int i = 0; i < list.steps; i++)
                if (list.step[i].kind == HS_SEND || list.step[i].kind == HS_RECV)
                    sent[list.step[i].kind == HS_RECV][(r + root) % size]++;
            hs_list_free(&hs_heap, &list);
        }
    for (int r = 0; r < size; r++)
        for (int way = 0; way < 2; way++)
            most = sent[way][r] > most ? sent[way][r] : most;
    return (double)most / roots;
}

static void loads(void)
{
    static const char *const names[] = {"flat", "binomial", "chain", "binary_tree"};
    const struct hs_machine machine = {.alpha = 1};
    int good = 1;
    for (int n = 0; n < 4; n++)
        for (int size = 2; size <= 16; size++) {
            const struct hs_alg *alg = hs_alg_find(HS_BCAST, names[n]);
            struct hs_shape shape = {.size = size, .bytes = 8, .unit = 8};
            struct hs_clock_load load;
            price_of(alg, &shape, &machine, &load);
            good &= same_price(load.mean, (size - 1.0) / size);
            for (int roots = 1; roots <= HS_LOAD_ROOTS; roots++)
                good &= same_price(load.most[roots - 1], busiest(alg, size, roots));
        }
    tap_ok(good, "what the busiest port carries for each of many, while 1 to %d ranks in a row are roots",
           (int)HS_LOAD_ROOTS);
}

int main(int argc, char **argv)
{
    int draws = argc > 1 ? atoi(argv[1]) : 30;
    closed_forms();
    loads();
    sharing();
    places();
    tap_ok(monotonous(0, draws) <= 1e-12, "without inject no machine gets slower by being faster in one thing");
    tap_ok(monotonous(1, draws) < 0.25,
           "with inject it may, where messages of one node come in another order, a little");
    return tap_done();
}
