/* The clock against the closed forms of the papers: what the schedules cost, and what they are said to cost. */
#include "coll/clock.h"
#include "tap.h"

#include <math.h>

static const struct hs_machine machine = {.alpha = 3.0e-6, .beta = 1.1e-9, .gamma = 0.7e-9, .copy = 0};

/* The longest relative deviation of an algorithm from its formula over some sizes. */
struct worst {
    double deviation;
    int size;
    int64_t bytes;
};

static int log2_up(int size)
{
    int rounds = 0;
    while (size > 1 << rounds)
        rounds++;
    return rounds;
}

static double flat(int q, double m, double segments)
{
    (void)segments;
    return (q - 1) * (machine.alpha + m * machine.beta);
}

static double binomial(int q, double m, double segments)
{
    (void)segments;
    return log2_up(q) * (machine.alpha + m * machine.beta);
}

static double van_de_geijn(int q, double m, double segments)
{
    (void)segments;
    return (log2_up(q) + q - 1) * machine.alpha + 2 * (1 - 1.0 / q) * m * machine.beta;
}

static double chain(int q, double m, double segments)
{
    return q == 1 ? 0 : (q - 2 + segments) * (machine.alpha + m / segments * machine.beta);
}

static double tree_of_sums(int q, double m, double segments)
{
    (void)segments;
    return log2_up(q) * (machine.alpha + m * machine.beta + m * machine.gamma);
}

static double ring(int q, double m, double segments)
{
    (void)segments;
    return (q - 1) * (machine.alpha + m / q * machine.beta);
}

static void compare(enum hs_collective collective, const char *name, double (*formula)(int, double, double),
                    int powers_only)
{
    const struct hs_alg *alg = hs_alg_find(collective, name);
    struct worst worst = {0};
    int runs = 0, failed = !alg;

    for (int q = 1; alg && q <= 128; q = powers_only ? 2 * q : q < 33 ? q + 1 : q + 19)
        for (int segments = 1; segments <= 64; segments = alg->flags & HS_USES_SEGMENT ? 3 * segments + 1 : 65) {
            int64_t bytes = (int64_t)8 * 64 * 27 * 5 * q * segments; /* whatever divides it has to divide it */
            struct hs_shape shape = {.size = q, .root = q / 3, .bytes = bytes, .unit = 8, .segment = bytes / segments};
            struct hs_clock_report report;
            failed |= hs_clock(alg, &shape, &machine, &hs_heap, &report) != HSUMMA_OK;
            double want = formula(q, (double)bytes, segments);
            double deviation = want > 0 ? fabs(report.seconds - want) / want : fabs(report.seconds);
            if (deviation > worst.deviation)
                worst = (struct worst){deviation, q, bytes};
            runs++;
        }
    if (!tap_ok(!failed && worst.deviation < 1e-12, "%s %s costs what its formula says (%d shapes)",
                hs_collective_name(collective), name, runs))
        tap_diag("worst: %g off at q = %d, %lld bytes", worst.deviation, worst.size, (long long)worst.bytes);
}

/* Sizes and partitions for which there is no closed form: bounds that hold for any. */
static void bounds(void)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)); i++) {
        int bad = 0;
        for (int q = 1; q <= 40; q++)
            for (int64_t elements = 0; elements < 300; elements = 2 * elements + 3) {
                struct hs_shape shape = {.size = q, .bytes = 8 * elements, .unit = 8, .segment = 64};
                struct hs_clock_report report;
                bad += hs_clock(alg, &shape, &machine, &hs_heap, &report) != HSUMMA_OK;
                double port =
                    (double)report.messages_rank_max * machine.alpha + (double)report.bytes_rank_max * machine.beta;
                bad += report.seconds < port * (1 - 1e-12);
                bad += (report.messages == 0) != (q == 1 || elements == 0);
                bad += report.bytes_rank_max > report.bytes || report.messages_rank_max > report.messages;
            }
        tap_ok(bad == 0, "%s %s: no faster than its busiest port", hs_collective_name(alg->collective), alg->name);
    }
}

/* The chain is cheapest near sqrt((q - 2) m beta / alpha) segments, and then costs hardly more than m beta. */
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

/* Broken rows must give a status. */
static void build_silent_receiver(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank > 0)
        hs_emit_recv(builder, 0, hs_out(0), shape->bytes);
}

static void build_circle(struct hs_builder *builder, const struct hs_shape *shape)
{
    int peer = shape->rank ^ 1;
    int receive = hs_emit_recv(builder, peer, hs_out(0), shape->bytes);
    hs_after(builder, hs_emit_send(builder, peer, hs_out(0), shape->bytes), receive);
}

static void build_far_peer(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_send(builder, shape->size, hs_out(0), shape->bytes);
}

static void broken(void)
{
    static const struct hs_alg rows[] = {
        {HS_BCAST, "silent_receiver", "", 0, NULL, build_silent_receiver},
        {HS_BCAST, "circle", "", 0, NULL, build_circle},
        {HS_BCAST, "far_peer", "", 0, NULL, build_far_peer},
    };
    struct hs_shape shape = {.size = 2, .bytes = 64, .unit = 8};
    struct hs_clock_report report;
    for (int i = 0; i < 3; i++)
        tap_ok(hs_clock(&rows[i], &shape, &machine, &hs_heap, &report) == HSUMMA_ERR_INTERNAL,
               "a broken algorithm is a status: %s", rows[i].name);
    shape.size = 0;
    tap_ok(hs_clock(hs_alg_at(0), &shape, &machine, &hs_heap, &report) == HSUMMA_ERR_INTERNAL, "so is a group of none");
}

int main(void)
{
    compare(HS_BCAST, "flat", flat, 0);
    compare(HS_BCAST, "binomial", binomial, 0);
    compare(HS_BCAST, "van_de_geijn", van_de_geijn, 1);
    compare(HS_BCAST, "chain", chain, 0);
    compare(HS_REDUCE_TO, "binomial", tree_of_sums, 1);
    compare(HS_ALLREDUCE, "recursive_doubling", tree_of_sums, 1);
    compare(HS_ALLGATHER, "ring", ring, 0);
    best_segment();
    bounds();
    broken();
    return tap_done();
}
