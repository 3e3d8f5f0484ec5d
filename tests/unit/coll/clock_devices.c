/*
 * The clock for devices shared by ranks: cases computed by hand, and all algorithms. With one device per rank an
 * algorithm costs as much as without devices; with one device per node it costs at least the work of the busiest
 * device.
 */
#include "support/coll/sweep.h"
#include "support/tap.h"

#include <math.h>

/* A device per node. A launch takes shm.alpha; a byte takes shm.beta if copied through shared memory, else copy; gamma
 * if summed. */
static const struct hs_machine device = {
    .alpha = 1e-3, .gamma = 3e-9, .copy = 2e-9, .shm = {.alpha = 5e-6, .beta = 1e-9}, .devices = 1, .turn = 40e-6};

static void copy_once(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_copy(builder, hs_out(0), hs_in(0), shape->bytes, -1);
}

static void copy_twice(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_copy(builder, hs_out(0), hs_in(0), shape->bytes, -1);
    hs_emit_copy(builder, hs_scratch(0), hs_in(0), shape->bytes, -1);
}

/* Rank 0 copies twice; rank 1 waits for the first copy, then copies. */
static void copy_later(struct hs_builder *builder, const struct hs_shape *shape)
{
    if (shape->rank == 1) {
        int wait = hs_emit_wait(builder, 0, 1);
        hs_emit_copy(builder, hs_out(0), hs_in(0), shape->bytes, wait);
        return;
    }
    int copy = hs_emit_copy(builder, hs_out(0), hs_in(0), shape->bytes, -1);
    hs_emit_signal(builder, 1, copy);
    hs_emit_copy(builder, hs_scratch(0), hs_out(0), shape->bytes, copy);
}

/* Adds three sums that form a chain. Without `chain` the third also depends on the first, so it becomes a separate
 * operation. */
static void sums(struct hs_builder *builder, const struct hs_shape *shape, int chain)
{
    int64_t bytes = shape->bytes;
    int first = hs_emit_reduce(builder, hs_out(0), hs_in(0), hs_in(0), bytes, -1);
    int second = hs_emit_reduce(builder, hs_out(0), hs_out(0), hs_in(0), bytes, first);
    int third = hs_emit_reduce(builder, hs_out(0), hs_out(0), hs_in(0), bytes, second);
    if (!chain)
        hs_after(builder, third, first);
}

static void sum_chain(struct hs_builder *builder, const struct hs_shape *shape)
{
    sums(builder, shape, 1);
}

static void sum_two(struct hs_builder *builder, const struct hs_shape *shape)
{
    sums(builder, shape, 0);
}

static void cases(void)
{
    enum { N = 8000 };
    struct hs_machine m = device, two = device, four = device;
    two.devices = 2;
    four.devices = 4;
    double a = m.shm.alpha, t = m.turn, copy = a + N * m.copy, sum = N * m.gamma;

    tap_ok(same_price(price_of_steps(copy_once, 1, 1, N, &m), copy), "one rank alone: a launch and its bytes");
    tap_ok(same_price(price_of_steps(copy_once, 2, 1, N, &m), 2 * copy + t),
           "two ranks on one device: one after the other, a turn");
    tap_ok(same_price(price_of_steps(copy_once, 2, 1, N, &two), copy), "two ranks on two devices: at the same time");
    tap_ok(same_price(price_of_steps(copy_once, 2, 2, N, &m), copy), "two ranks on two nodes: likewise");
    tap_ok(same_price(price_of_steps(copy_once, 3, 1, N, &two), 2 * copy + t) &&
               same_price(price_of_steps(copy_once, 4, 1, N, &two), 2 * copy + t) &&
               same_price(price_of_steps(copy_once, 5, 1, N, &two), 3 * copy + 2 * t) &&
               same_price(price_of_steps(copy_once, 2, 1, N, &four), copy),
           "3, 4 and 5 ranks on two devices are dealt in blocks; two on four have one each");
    tap_ok(same_price(price_of_steps(copy_twice, 2, 1, N, &m), 4 * copy + t),
           "a device does all that is ready for a rank: one turn");
    tap_ok(same_price(price_of_steps(copy_later, 2, 1, N, &m), 3 * copy + t),
           "of what is ready at the same time the lower rank's is done first: one turn");
    m.signal = 1e-6;
    tap_ok(same_price(price_of_steps(copy_later, 2, 1, N, &m), 3 * copy + t), "and before what is ready a bit later");
    m.turn = 0;
    tap_ok(same_price(price_of_steps(copy_twice, 2, 1, N, &m), 4 * copy), "a turn may cost nothing");
    tap_ok(same_price(price_of_steps(sum_chain, 1, 1, N, &m), a + 3 * sum), "a chain of sums is launched once");
    tap_ok(same_price(price_of_steps(sum_two, 1, 1, N, &m), 2 * a + 3 * sum),
           "a sum that waits for more is launched on its own");
    m.devices = 0;
    tap_ok(same_price(price_of_steps(copy_twice, 2, 1, N, &m), 2 * N * m.copy) &&
               same_price(price_of_steps(sum_chain, 1, 1, N, &m), 3 * sum),
           "without devices there are neither launches nor turns");
}

/* The cost of shared_buffer on one device, and on a device per rank, by closed forms; signals cost nothing. */
static void designs(void)
{
    enum { N = 8000 };
    double a = device.shm.alpha, t = device.turn, w = a + N * device.shm.beta, own = a + N * device.shm.beta,
           sum = N * device.gamma;
    struct hs_machine many = device;
    int good = 1, apart = 1;
    many.devices = 16;
    for (int p = 2; p <= 16; p++) {
        struct hs_topology topology = topology_blocks(p, 1, 1, 1 << 20, 0);
        struct hs_clock_load load;
        struct hs_shape shape = {.size = p, .bytes = N, .unit = 8, .topology = &topology};
        const struct hs_alg *alg = hs_alg_find(HS_ALLREDUCE, "shared_buffer");
        double in = (p - 1) * w + (p - 2) * t, reduce = t + a + (p - 1) * sum, out = own + (p - 1) * (t + w);
        good &= same_price(price_of(alg, &shape, &device, &load), in + reduce + out);
        good &=
            same_price(load.most[0], (p - 1) * w + a + (p - 1) * sum + p * w) && same_price(load.mean, load.most[0]);
        apart &= same_price(price_of(alg, &shape, &many, NULL), w + a + (p - 1) * sum + w);
        hs_topology_free(&topology, &hs_heap);
    }
    tap_ok(good, "shared_buffer on one device: all copies in, one sum, all copies out, 2 (p-1) turns");
    tap_ok(apart, "on a device each: a copy in, the sum, a copy out");
}

/* Every algorithm that a device can run: a device per rank costs as much as a processor per rank; a device per node is
 * not faster than its work. */
static void rows(void)
{
    static const struct hs_machine tiers = {.alpha = 3.0e-6,
                                            .beta = 1.1e-9,
                                            .gamma = 0.7e-9,
                                            .copy = 0.2e-9,
                                            .node = {.alpha = 1.0e-6, .beta = 0.5e-9},
                                            .inject = 0.4e-9,
                                            .shm = {.beta = 0.25e-9},
                                            .signal = 0.15e-6,
                                            .ports = 2};
    const struct hs_alg *alg;
    int alike = 0, unlike = 0, fewer = 0, faster = 0, contended = 0;
    for (int i = 0; (alg = hs_alg_at(i)); i++)
        for (int p = 1; p <= 17; p++)
            for (int nodes = 1; nodes <= p && nodes <= 3; nodes++)
                for (int inject = 0; inject < 2; inject++) {
                    struct hs_topology topology = topology_blocks(p, nodes, 1, 40000, p % 2);
                    struct hs_machine m = tiers;
                    struct hs_clock_load load;
                    m.inject = inject ? m.inject : 0;
                    struct hs_shape shape = {.size = p, .bytes = 8000, .unit = 8, .topology = &topology};
                    double plain = alg->flags & (HS_BY_MPI | HS_EXACT_SUMS) || hs_alg_unfit(alg, &shape)
                                       ? -1
                                       : price_of(alg, &shape, &m, NULL);
                    if (plain >= 0) {
                        m.devices = p;
                        m.turn = 1;
                        double own = price_of(alg, &shape, &m, NULL);
                        alike += fabs(own - plain) <= 1e-12 * plain;
                        unlike += fabs(own - plain) > 1e-12 * plain;
                        m.devices = 1;
                        m.turn = 0;
                        double one = price_of(alg, &shape, &m, NULL);
                        const struct hs_machine work = {.gamma = m.gamma, .copy = m.copy, .shm = m.shm, .devices = 1};
                        price_of(alg, &shape, &work, &load); /* messages cost nothing: only the busiest device counts */
                        fewer++;
                        faster += one < load.most[0] * (1 - 1e-12) || one < 0.9 * plain;
                        contended += one > 1.5 * plain;
                    }
                    hs_topology_free(&topology, &hs_heap);
                }
    tap_ok(unlike == 0 && alike > 2000, "a device for each rank costs what a processor for each does (%d of %d)", alike,
           alike + unlike);
    tap_ok(faster == 0 && contended > 100, "one for all is never faster than its work (%d), and often busy (%d)", fewer,
           contended);
}

int main(void)
{
    cases();
    designs();
    rows();
    return tap_done();
}
