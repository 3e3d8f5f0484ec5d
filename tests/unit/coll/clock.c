/* The clock compared with the closed forms of the papers, with bounds for any schedule, and on lists of a few steps. */
#include "support/coll/sweep.h"
#include "support/tap.h"

#include <math.h>

static const struct hs_machine machine = {.alpha = 3.0e-6, .beta = 1.1e-9, .gamma = 0.7e-9, .copy = 0};

/* A formula of a paper: seconds for q ranks, m bytes, and a number of segments. */
typedef double (*formula)(double q, double m, double segments);
#define FORMULA(name, expression)                                                                           \
    static double name(double q, double m, double segments)                                                 \
    {                                                                                                       \
        double alpha = machine.alpha, beta = machine.beta, gamma = machine.gamma, rounds = log2_up((int)q); \
        (void)alpha, (void)beta, (void)gamma, (void)rounds, (void)segments, (void)m;                        \
        return q > 1 ? (expression) : 0;                                                                    \
    }
FORMULA(flat, (q - 1) * (alpha + m * beta))
FORMULA(binomial, rounds *(alpha + m * beta))
FORMULA(van_de_geijn, (rounds + q - 1) * alpha + 2 * (1 - 1 / q) * m * beta)
FORMULA(chain, (q - 2 + segments) * (alpha + m / segments * beta))
FORMULA(binary_tree, q < 3 ? segments * alpha + m * beta : 2 * (rounds - 2 + segments) * (alpha + m / segments * beta))
FORMULA(tree_of_sums, rounds *(alpha + m * beta + m * gamma))
FORMULA(there_and_back, 2 * rounds * (alpha + m * beta) + rounds * m * gamma)
FORMULA(parts, (q - 1) * (alpha + m / q * beta))
FORMULA(parts_of_sums, (q - 1) * (alpha + m / q * (beta + gamma)))
FORMULA(ring_twice, 2 * (q - 1) * (alpha + m / q * beta) + (1 - 1 / q) * m * gamma)
FORMULA(doubling, rounds *alpha + (1 - 1 / q) * m * beta)
FORMULA(halving, rounds *alpha + (1 - 1 / q) * m * (beta + gamma))

/* numbers of ranks for which a formula is exact; EVEN: and 1; FULL_TREES: 2^i - 1 */
enum sizes { ANY, EVEN, POWERS, FULL_TREES };

static const struct row {
    enum hs_collective collective;
    const char *name;
    formula formula;
    enum sizes sizes;
} rows[] = {
    {HS_BCAST, "flat", flat, ANY},
    {HS_BCAST, "binomial", binomial, ANY},
    {HS_BCAST, "van_de_geijn", van_de_geijn, POWERS},
    {HS_BCAST, "chain", chain, ANY},
    {HS_BCAST, "bidirectional_chain", chain, EVEN},
    {HS_BCAST, "binary_tree", binary_tree, FULL_TREES},
    {HS_REDUCE_TO, "binomial", tree_of_sums, POWERS},
    {HS_ALLREDUCE, "recursive_doubling", tree_of_sums, POWERS},
    {HS_ALLREDUCE, "reduce_bcast", there_and_back, POWERS},
    {HS_ALLREDUCE, "ring", ring_twice, ANY},
    {HS_ALLGATHER, "ring", parts, ANY},
    {HS_ALLGATHER, "bruck", doubling, ANY},
    {HS_ALLGATHER, "recursive_doubling", doubling, POWERS},
    {HS_REDUCE_SCATTER, "recursive_halving", halving, POWERS},
    {HS_REDUCE_SCATTER, "ring", parts_of_sums, ANY},
};

static int next_size(enum sizes sizes, int q)
{
    int next = q < 33 ? q + 1 : q + 19;
    return sizes == POWERS ? 2 * q : sizes == FULL_TREES ? 2 * q + 1 : sizes == EVEN ? next + next % 2 : next;
}

static void compare(const struct row *row)
{
    const struct hs_alg *alg = hs_alg_find(row->collective, row->name);
    double worst = 0; /* the largest relative deviation from the formula */
    int at = 0, runs = 0, failed = !alg;

    for (int q = 1; alg && q <= 128; q = next_size(row->sizes, q))
        for (int segments = 1; segments <= 64; segments = alg->flags & HS_USES_SEGMENT ? 3 * segments + 1 : 65) {
            int64_t bytes = (int64_t)8 * 64 * 27 * 5 * q *
                            segments; /* divisible by every number of parts into which an algorithm cuts it */
            struct hs_shape shape = {.size = q, .root = q / 3, .bytes = bytes, .unit = 8, .segment = bytes / segments};
            struct hs_clock_report report;
            failed |= hs_clock(alg, &shape, &machine, &hs_heap, &report) != HSUMMA_OK;
            double want = row->formula(q, (double)bytes, segments);
            double deviation = want > 0 ? fabs(report.seconds - want) / want : fabs(report.seconds);
            at = deviation > worst ? q : at;
            worst = fmax(worst, deviation);
            runs++;
        }
    if (!tap_ok(!failed && worst < 1e-12, "%s %s costs what its formula says (%d shapes)",
                hs_collective_name(row->collective), row->name, runs))
        tap_diag("worst: %g off at q = %d", worst, at);
}

/* A machine with prices on all tiers, an injection limit and two ports. */
static const struct hs_machine tiers = {
    .alpha = 3.0e-6,
    .beta = 1.1e-9,
    .gamma = 0.7e-9,
    .copy = 0.2e-9,
    .node = {.alpha = 1.0e-6, .beta = 0.5e-9},
    .socket = {.alpha = 0.4e-6, .beta = 0.3e-9},
    .inject = 0.4e-9,
    .shm = {.alpha = 0.1e-6, .beta = 0.25e-9},
    .signal = 0.15e-6,
    .ports = 2,
};

/* Bounds that hold for any schedule on any machine; returns the number of violated ones. */
static int out_of_bounds(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *m)
{
    struct hs_clock_report report;
    int ports = m->ports > 1 ? m->ports : 1, unfit = alg->flags & HS_BY_MPI || hs_alg_unfit(alg, shape);
    hsumma_status status = hs_clock(alg, shape, m, &hs_heap, &report);
    if (status || unfit)
        return status != (unfit ? HSUMMA_ERR_UNSUPPORTED : HSUMMA_OK);

    const struct hs_traffic *most = &report.between_rank_max, all = report.tier[HS_BETWEEN_NODES];
    double least = report.seconds * (1 + 1e-12);
    int bad = 0, nodes = shape->topology ? shape->topology->division[HS_NODE].parts : shape->size;
    bad += least < ((double)most->messages * m->alpha) / ports || least < (double)most->bytes * m->beta / ports;
    bad += least < (double)report.between_node_max.bytes * m->inject;
    bad += least < (double)report.reduced_rank_max * m->gamma;
    bad += (all.messages == 0) != (nodes == 1 || shape->bytes == 0);
    bad += report.between_node_max.bytes > all.bytes || most->messages > report.between_node_max.messages;
    bad += report.bytes_rank_max > report.bytes || report.messages_rank_max > report.messages;
    int64_t messages = 0, bytes = 0;
    for (int i = 0; i < HS_TIER_KINDS; i++) {
        messages += report.tier[i].messages;
        bytes += report.tier[i].bytes;
    }
    return bad + (messages != report.messages) + (bytes != report.bytes);
}

/* Checks the bounds for sizes and topologies that have no closed form. */
static void bounds(void)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)); i++) {
        int bad = 0;
        for (int q = 1; q <= 40; q += q < 18 ? 1 : 11)
            for (int nodes = 0; nodes <= q && nodes <= 9;
                 nodes += 3) { /* 0: each rank has its own node; 3: all on one node; 9: no shared memory */
                struct hs_topology topology =
                    topology_blocks(q, nodes == 3 || !nodes ? 1 : nodes, 2, nodes == 9 ? 0 : 64, 0);
                for (int64_t elements = 0; elements < 300; elements = 5 * elements + 3) {
                    struct hs_shape shape = {.size = q, .bytes = 8 * elements, .unit = 8, .segment = 64};
                    shape.topology = nodes ? &topology : NULL;
                    bad += out_of_bounds(alg, &shape, nodes ? &tiers : &machine);
                }
                hs_topology_free(&topology, &hs_heap);
            }
        tap_ok(bad == 0, "%s %s: no faster than its busiest port, node and processor",
               hs_collective_name(alg->collective), alg->name);
    }
}

/* The reduce-scatter "pairwise" sums in a tree while the next message arrives: it takes at most the time of its
 * formula, and at least that of its messages and one sum. */
static void pairwise(void)
{
    const struct hs_alg *alg = hs_alg_find(HS_REDUCE_SCATTER, "pairwise");
    int good = 1;
    for (int q = 2; q <= 33; q++) {
        int64_t bytes = 8000 * (int64_t)q;
        struct hs_shape shape = {.size = q, .bytes = bytes, .unit = 8};
        struct hs_clock_report report;
        good &= hs_clock(alg, &shape, &machine, &hs_heap, &report) == HSUMMA_OK;
        good &= report.seconds <= parts_of_sums(q, (double)bytes, 1) * (1 + 1e-12);
        good &= report.seconds >= (parts(q, (double)bytes, 1) + 8000 * machine.gamma) * (1 - 1e-12);
    }
    tap_ok(good,
           "reduce_scatter pairwise costs no more than its formula says, and no less than its messages and a sum");
}

/* With a port for each direction a bidirectional chain needs half the time of a chain for long vectors. */
static void both_directions(void)
{
    const struct hs_alg *alg = hs_alg_find(HS_BCAST, "bidirectional_chain");
    struct hs_machine two_ports = machine;
    int good = 1;
    two_ports.ports = 2;
    for (int q = 2; q <= 33; q++)
        for (int segments = 1; segments <= 40; segments += 3) {
            int64_t bytes = (int64_t)8000 * segments;
            struct hs_shape shape = {.size = q, .root = q / 3, .bytes = bytes, .unit = 8, .segment = 8000};
            struct hs_clock_report report;
            double want = chain(q, 8000.0 * ((segments + 1) / 2), (segments + 1) / 2);
            good &= hs_clock(alg, &shape, &two_ports, &hs_heap, &report) == HSUMMA_OK;
            good &= fabs(report.seconds - want) <= 1e-12 * want;
        }
    tap_ok(good, "bcast bidirectional_chain takes the time of a chain of half the vector on two ports");
}

/* The chain is cheapest near sqrt((q - 2) m beta / alpha) segments. */
static void best_segment(void)
{
    const struct hs_alg *alg = hs_alg_find(HS_BCAST, "chain");
    int q = 18, best = 0;
    double m = 8.0 * (1 << 17), least = 1e9, optimum = sqrt((q - 2) * m * machine.beta / machine.alpha);
    for (int segments = 1; segments <= 256; segments *= 2) {
        struct hs_shape shape = {.size = q, .bytes = (int64_t)m, .unit = 8, .segment = (int64_t)m / segments};
        struct hs_clock_report report;
        if (hs_clock(alg, &shape, &machine, &hs_heap, &report) == HSUMMA_OK && report.seconds < least) {
            least = report.seconds;
            best = segments;
        }
    }
    tap_ok(best > optimum / 2 && best < optimum * 2, "chain: %d segments are best, theory says %.1f", best, optimum);
}

/* Tests of single parameters of the machine, on schedules of a few steps. */

/* The first half of the ranks, which form one node, sends to the second half, rank by rank. */
static void build_halves(struct hs_builder *builder, const struct hs_shape *shape)
{
    int half = shape->size / 2;
    if (shape->rank < half)
        hs_emit_send(builder, shape->rank + half, hs_out(0), shape->bytes, -1);
    else
        hs_emit_recv(builder, shape->rank - half, hs_out(0), shape->bytes, -1);
}

static void injection(void)
{
    int good = 1;
    for (int k = 1; k <= 9; k++)
        for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 32) {
            double m = (double)bytes, shared = k * m * tiers.inject, alone = m * tiers.beta;
            good &=
                same_price(price_of_steps(build_halves, 2 * k, 2, bytes, &tiers), tiers.alpha + fmax(shared, alone));
        }
    tap_ok(good, "k messages leave a node together in alpha + max(k s / R_N, s / R_b)");
}

/* Two pairs of ranks send as in build_halves, but rank 1 first sums half a vector, and rank 2 sums `sum` bytes after it
 * has received rank 0's message. */
static void late(struct hs_builder *builder, const struct hs_shape *shape, int64_t sum)
{
    int before = -1;
    if (shape->rank == 1)
        before = hs_emit_reduce(builder, hs_scratch(0), hs_out(0), hs_out(0), shape->bytes / 2, -1);
    if (shape->rank < 2) {
        hs_emit_send(builder, shape->rank + 2, hs_out(0), shape->bytes, before);
        return;
    }
    int receive = hs_emit_recv(builder, shape->rank - 2, hs_out(0), shape->bytes, -1);
    if (shape->rank == 2)
        hs_emit_reduce(builder, hs_scratch(0), hs_out(0), hs_out(0), sum, receive);
}

static void build_late(struct hs_builder *builder, const struct hs_shape *shape)
{
    late(builder, shape, 0);
}

static void build_late_sum(struct hs_builder *builder, const struct hs_shape *shape)
{
    late(builder, shape, shape->bytes);
}

/*
 * If a node's injection rate R_N equals the rate R_b of one message, the first message has the node's link alone for d
 * = gamma m / 2 seconds, then half of it. It ends at alpha + 2 m beta - d, and the second, which has the link alone
 * for its last d seconds, at alpha + 2 m beta.
 */
static void late_message(void)
{
    const struct hs_machine m = {.alpha = 2e-6, .beta = 1e-9, .gamma = 0.8e-9, .inject = 1e-9};
    double bytes = 1 << 16, d = m.gamma * bytes / 2, whole = m.alpha + 2 * bytes * m.beta;
    tap_ok(same_price(price_of_steps(build_late_sum, 4, 2, 1 << 16, &m), whole - d + m.gamma * bytes),
           "a message shares its node with one that comes later only from then on");
    tap_ok(same_price(price_of_steps(build_late, 4, 2, 1 << 16, &m), whole),
           "and that one has the node again when the first has left");
}

/* Rank 0 sends to rank 1 on its socket, rank 2 on its node, and rank 4 on another node. */
static void build_near_and_far(struct hs_builder *builder, const struct hs_shape *shape)
{
    for (int to = 1; to <= 4; to *= 2) {
        if (shape->rank == 0)
            hs_emit_send(builder, to, hs_out(0), shape->bytes, -1);
        if (shape->rank == to)
            hs_emit_recv(builder, 0, hs_out(0), shape->bytes, -1);
    }
}

static void places(void)
{
    struct hs_machine m = {
        .alpha = 4e-6, .beta = 2e-9, .node = {.alpha = 2e-6, .beta = 1e-9}, .socket = {.alpha = 1e-6, .beta = 0.5e-9}};
    int good = same_price(price_of_steps(build_near_and_far, 8, 2, 8000, &m), 7e-6 + 3.5e-9 * 8000);
    m.socket = (struct hs_link){0};
    good &= same_price(price_of_steps(build_near_and_far, 8, 2, 8000, &m), 8e-6 + 4e-9 * 8000);
    m.node = (struct hs_link){0};
    good &= same_price(price_of_steps(build_near_and_far, 8, 2, 8000, &m), 12e-6 + 6e-9 * 8000);
    tap_ok(good, "socket, node and network have prices of their own, or that of the next wider one");
    m.ports = 2;
    good = same_price(price_of_steps(build_near_and_far, 8, 2, 8000, &m), 8e-6 + 4e-9 * 8000);
    m.ports = 3;
    good &= same_price(price_of_steps(build_near_and_far, 8, 2, 8000, &m), 4e-6 + 2e-9 * 8000);
    tap_ok(good, "a rank with so many ports sends so many messages at the same time");
}

/* Rank 0 copies its vector to SHARED and signals. Rank 1 sums a quarter of its own vector, waits for the signal, copies
 * rank 0's vector to OUT and adds it once more. */
static void build_shown(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == 0) {
        int copy = hs_emit_copy(builder, hs_shared(0), hs_in(0), shape->bytes, -1);
        hs_emit_signal(builder, 1, copy);
    } else {
        int own = hs_emit_reduce(builder, hs_scratch(0), hs_in(0), hs_in(0), shape->bytes / 4, -1);
        int wait = hs_emit_wait(builder, 0, 1);
        hs_after(builder, wait, own);
        int copy = hs_emit_copy(builder, hs_out(0), hs_of(0, hs_shared(0)), shape->bytes, wait);
        hs_emit_reduce(builder, hs_out(0), hs_out(0), hs_of(0, hs_shared(0)), shape->bytes, copy);
    }
}

static void shared_memory(void)
{
    double n = 8000, copy = tiers.shm.alpha + n * tiers.shm.beta, sum = n * tiers.gamma;
    struct hs_machine slow = tiers, plain = tiers;
    slow.gamma = 1e-6; /* slow enough that rank 1 still sums when the signal arrives */
    plain.shm = (struct hs_link){0};
    tap_ok(copy + tiers.signal > sum / 4 &&
               same_price(price_of_steps(build_shown, 2, 1, 8000, &tiers), 2 * copy + tiers.signal + sum),
           "a WAIT ends when the SIGNAL has come through; shared copies cost a' + n b', sums gamma");
    tap_ok(same_price(price_of_steps(build_shown, 2, 1, 8000, &slow), copy + 1.25 * n * slow.gamma),
           "or when its rank is ready for it");
    tap_ok(same_price(price_of_steps(build_shown, 2, 1, 8000, &plain),
                      fmax(sum / 4, n * plain.copy + plain.signal) + n * plain.copy + sum),
           "without a price of their own shared copies are copies");
}

/* Rank 1 copies rank 0's IN and adds it to its own. */
static void build_reader(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == 0) {
        hs_emit_signal(builder, 1, -1);
        return;
    }
    int copy = hs_emit_copy(builder, hs_out(0), hs_of(0, hs_in(0)), shape->bytes, hs_emit_wait(builder, 0, 1));
    hs_emit_reduce(builder, hs_out(0), hs_of(0, hs_in(0)), hs_out(0), shape->bytes, copy);
}

static void reads(void)
{
    double n = 8000, shared = tiers.shm.alpha + n * tiers.shm.beta, sum = n * tiers.gamma, read = 3e-6 + n * 2e-9;
    struct hs_machine priced = tiers;
    priced.read = (struct hs_link){.alpha = 3e-6, .beta = 2e-9};
    tap_ok(same_price(price_of_steps(build_reader, 2, 1, 8000, &priced), tiers.signal + 2 * read + sum),
           "copies and sums of a peer's IN cost the price of reads");
    tap_ok(same_price(price_of_steps(build_reader, 2, 1, 8000, &tiers), tiers.signal + shared + sum),
           "without that price such copies cost as much as shared ones, and sums only gamma");
    tap_ok(
        same_price(price_of_steps(build_shown, 2, 1, 8000, &priced), price_of_steps(build_shown, 2, 1, 8000, &tiers)),
        "accesses to SHARED are no reads");
}

/* Algorithms with invalid lists, for which the clock must return an error. */
static void build_silent_receiver(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank > 0)
        hs_emit_recv(builder, 0, hs_out(0), shape->bytes, -1);
}

static void build_circle(struct hs_builder *builder, const struct hs_shape *shape)
{
    int peer = shape->rank ^ 1;
    int receive = hs_emit_recv(builder, peer, hs_out(0), shape->bytes, -1);
    hs_emit_send(builder, peer, hs_out(0), shape->bytes, receive);
}

static void build_deaf(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_wait(builder, 1 - shape->rank, 1);
}

static void build_far_peer(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_send(builder, shape->size, hs_out(0), shape->bytes, -1);
}

static void broken(void)
{
    static const struct hs_alg bad[] = {
        {.collective = HS_BCAST, .name = "silent_receiver", .build = build_silent_receiver},
        {.collective = HS_BCAST, .name = "circle", .build = build_circle},
        {.collective = HS_BCAST, .name = "far_peer", .build = build_far_peer},
        {.collective = HS_BCAST, .name = "no_signal", .build = build_deaf},
    };
    struct hs_shape shape = {.size = 2, .bytes = 64, .unit = 8};
    struct hs_clock_report report;
    for (int i = 0; i < 4; i++)
        tap_ok(hs_clock(&bad[i], &shape, &machine, &hs_heap, &report) == HSUMMA_ERR_INTERNAL,
               "a broken algorithm is a status: %s", bad[i].name);
    shape.size = 0;
    tap_ok(hs_clock(hs_alg_at(0), &shape, &machine, &hs_heap, &report) == HSUMMA_ERR_INTERNAL, "so is a group of none");
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        compare(&rows[i]);
    pairwise();
    both_directions();
    best_segment();
    bounds();
    injection();
    late_message();
    places();
    shared_memory();
    reads();
    broken();
    return tap_done();
}
