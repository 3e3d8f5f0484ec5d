/*
 * The clock's estimate for many ranks from a sample of their lists: compared with closed forms and with the clock of
 * all ranks; and the choices that rely on it.
 */
#include "coll/select/select.h"
#include "support/coll/sweep.h"
#include "support/failing_memory.h"
#include "support/random.h"
#include "support/tap.h"

#include "coll/model/clock_parts.h"
#include "hsumma/cost/profile.h"

#include <math.h>
#include <string.h>

/* Machines: the built-in one, the same with a network of 1 Gbit/s, and one with gaps. main sets the first two. */
enum { MACHINES = 3 };
static struct hs_machine machines[MACHINES] = {
    [2] = {.network = {.alpha = 2e-6, .beta = 1e-10, .gap = 5e-7},
           .node = {.alpha = 5e-7, .beta = 5e-11},
           .gamma = 1e-10},
};

static double estimate_of(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                          int64_t *lists)
{
    struct hs_clock_estimate estimate;
    hsumma_status status = hs_clock_estimate(alg, shape, machine, &hs_heap, HUGE_VAL, &estimate);
    *lists = *lists > estimate.lists ? *lists : estimate.lists;
    return status ? NAN : estimate.seconds;
}

/* Ranks on separate nodes: each algorithm costs what its paper says. */
static void test_closed_forms(void)
{
    const struct hs_machine hockney = {.alpha = 3e-6, .beta = 1e-9};
    const double a = hockney.alpha, b = hockney.beta, p = 16384, m = 1 << 20, segments = 16;
    const struct {
        enum hs_collective collective;
        const char *name;
        double seconds;
    } rows[] = {
        {HS_BCAST, "flat", (p - 1) * (a + m * b)},
        {HS_BCAST, "binomial", 14 * (a + m * b)},
        {HS_BCAST, "chain", (p - 2 + segments) * (a + m / segments * b)},
        {HS_BCAST, "binary_tree", 2 * (14 - 2 + segments) * (a + m / segments * b)},
        {HS_BCAST, "van_de_geijn", (14 + p - 1) * a + 2 * (1 - 1 / p) * m * b},
        {HS_ALLREDUCE, "recursive_doubling", 14 * (a + m * b)},
        {HS_ALLREDUCE, "ring", 2 * (p - 1) * (a + m / p * b)},
        {HS_ALLGATHER, "ring", (p - 1) * (a + m / p * b)},
        {HS_ALLGATHER, "recursive_doubling", 14 * a + (1 - 1 / p) * m * b},
        {HS_REDUCE_SCATTER, "recursive_halving", 14 * a + (1 - 1 / p) * m * b},
        {HS_REDUCE_TO, "binomial", 14 * (a + m * b)},
    };
    struct hs_shape shape = {.size = (int)p, .bytes = (int64_t)m, .unit = 8};
    int64_t lists = 0;
    double worst = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        double is = estimate_of(hs_alg_find(rows[i].collective, rows[i].name), &shape, &hockney, &lists);
        double off = fabs(is / rows[i].seconds - 1);
        worst = off <= worst ? worst : off;
        if (!(off < 0.03))
            tap_diag("%s: %g s; expected %g s", rows[i].name, is, rows[i].seconds);
    }
    tap_ok(worst < 0.03, "16,384 ranks: %zu rows within %.2g %% of their formulas", sizeof rows / sizeof *rows,
           100 * worst);
    tap_ok(lists > 0 && lists < 2048, "at most %lld lists of each", (long long)lists);
}

/* The price of a sample is at most that of all ranks: the sampled ranks do the same work, but wait less. */
static void test_samples(void)
{
    const struct hs_alg *alg;
    struct hs_topology topology = topology_blocks(96, 12, 2, 1 << 16, 1);
    struct hs_machine machine = machines[0];
    int runs = 0, bad = 0;
    machine.inject = 0;
    for (int i = 0; (alg = hs_alg_at(i)); i++) {
        struct hs_shape shape = {.size = 96, .bytes = 24000, .unit = 8, .topology = &topology};
        if (alg->flags & (HS_BY_MPI | HS_ON_HOST) || hs_alg_unfit(alg, &shape))
            continue;
        for (int nodes = 0; nodes <= 12; nodes += 4, runs++) {
            unsigned char sample[96];
            struct hs_clock_result part;
            double whole = price_of(alg, &shape, &machine, NULL);
            for (int r = 0; r < 96; r++)
                sample[r] = nodes == 0 ? r == 41 : hs_part_of(&topology.division[HS_NODE], r) < nodes;
            hsumma_status status = hs_clock_sample(alg, &shape, &machine, &hs_heap, sample, &part, NULL);
            bad += status || part.seconds > whole * (1 + 1e-9) || (nodes == 12 && !same_price(part.seconds, whole));
        }
    }
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0 && runs > 80, "%d samples: never more than all ranks, and all of them the same: %d wrong", runs,
           bad);
}

/* The seconds of the fastest algorithm, each with default parameters, computed from the lists of all ranks. */
static double best_of_all(const struct hs_question *question, const struct hs_machine *machine)
{
    const struct hs_alg *alg;
    double least = HUGE_VAL;
    for (int i = 0; (alg = hs_alg_at(i)); i++) {
        struct hs_alg_spec spec = {.alg = alg};
        if (alg->collective != question->collective ||
            alg->flags & (HS_BY_MPI | HS_ON_HOST | HS_EXACT_SUMS | HS_FOR_DEVICES) ||
            hs_alg_spec_unfit(&spec, question))
            continue;
        double seconds = price_of(alg, question->shape, machine, NULL);
        least = seconds >= 0 && seconds < least ? seconds : least;
    }
    return least;
}

static void test_choices(void)
{
    enum { CASES = 100, LEAST = 65, MOST = 1024 };
    static const int ppn[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    int bad = 0;
    double worst = 0;
    draw_seed(18);
    for (int i = 0; i < CASES; i++) {
        int ranks = ppn[draw(10)],
            size = (int)exp(log(LEAST) + draw_fraction() * log((double)MOST / LEAST)) / ranks * ranks;
        struct hs_topology topology = topology_blocks(size, size / ranks, draw(2) + 1, draw(3) ? 1 << 18 : 0, 0);
        struct hs_shape shape = {.size = size, .bytes = (int64_t)8 << draw(18), .unit = 8, .topology = &topology};
        struct hs_question question = {.collective = (enum hs_collective)draw(HS_COLLECTIVES), .shape = &shape};
        struct hs_selector selector = {.memory = &hs_heap, .machine = &machines[draw(MACHINES)]};
        const struct hs_price *price = NULL;
        hsumma_status status = hs_select_price(&selector, &question, &price);
        double chosen = NAN, best = best_of_all(&question, selector.machine);
        if (!status && price) {
            struct hs_shape with = shape;
            with.with = price->best.spec.with;
            with.segment = price->best.spec.segment;
            chosen = price_of(price->best.spec.alg, &with, selector.machine, NULL);
            worst = chosen / best > worst ? chosen / best : worst;
        }
        if (!(chosen <= 1.05 * best)) {
            bad++;
            tap_diag("%s of %lld bytes on %d ranks, %d of a node: %s takes %g s, the best %g s",
                     hs_collective_name(question.collective), (long long)shape.bytes, size, ranks,
                     price ? price->best.spec.alg->name : "nothing", chosen, best);
        }
        hs_selector_free(&selector);
        hs_topology_free(&topology, &hs_heap);
    }
    tap_ok(bad == 0, "%d choices up to %d ranks: %d more than 5 %% above the best of all, the worst %.3f", CASES, MOST,
           bad, worst);
}

/* For an allreduce of 8 bytes between nodes the model chooses nap. */
static void test_node_aware(void)
{
    struct hs_topology topology = topology_blocks(256, 16, 1, 1 << 18, 0);
    struct hs_shape shape = {.size = 256, .bytes = 8, .unit = 8, .topology = &topology};
    struct hs_question question = {.collective = HS_ALLREDUCE, .shape = &shape};
    struct hs_selector selector = {.memory = &hs_heap, .machine = &machines[0]};
    struct hs_answer answer = {.by = HS_CHOSEN_BY_DEFAULT};
    double nap = price_of(hs_alg_find(HS_ALLREDUCE, "nap"), &shape, &machines[0], NULL);
    double doubling = price_of(hs_alg_find(HS_ALLREDUCE, "recursive_doubling"), &shape, &machines[0], NULL);
    hsumma_status status = hs_select(&selector, &question, &answer, NULL);
    tap_ok(!status && nap < doubling && answer.by == HS_CHOSEN_BY_MODEL && !strcmp(answer.spec.alg->name, "nap") &&
               same_price(answer.seconds, nap),
           "8 bytes on 16 nodes of 16: nap %.3g us, recursive doubling %.3g us", nap * 1e6, doubling * 1e6);
    hs_selector_free(&selector);
    hs_topology_free(&topology, &hs_heap);
}

/* The number of lists that are built for a choice: about one per rank at most, none when the question is repeated. */
static void test_work(void)
{
    enum { RANKS = 16384, NODES = 1024 };
    struct hs_topology topology = topology_blocks(RANKS, NODES, 1, 1 << 18, 0);
    struct hs_selector selector = {.memory = &hs_heap, .machine = &machines[0]};
    int64_t most = 0, again = 0, bad = 0;
    for (int c = 0; c < HS_COLLECTIVES; c++)
        for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 32) {
            struct hs_shape shape = {.size = RANKS, .bytes = bytes, .unit = 8, .topology = &topology};
            struct hs_question question = {.collective = (enum hs_collective)c, .shape = &shape};
            struct hs_answer answer;
            int64_t before = selector.lists;
            bad += hs_select(&selector, &question, &answer, NULL) || answer.by != HS_CHOSEN_BY_MODEL;
            most = selector.lists - before > most ? selector.lists - before : most;
            before = selector.lists;
            bad += hs_select(&selector, &question, &answer, NULL) != HSUMMA_OK;
            again += selector.lists - before;
        }
    hs_selector_free(&selector);
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0 && most < RANKS / 4 * 5 && again == 0,
           "16,384 ranks: a choice among all rows builds up to %lld lists, and none when it is remembered",
           (long long)most);
}

/* On some machines the search chooses dpml with more than 16 leaders, with several pieces, or with leaders by socket.
 * The second best choice always has another algorithm. */
static void test_parameters(void)
{
    const struct hs_alg *dpml = hs_alg_find(HS_ALLREDUCE, "dpml");
    int leaders = 0, pieces = 0, sockets = 0, bad = 0;
    for (int i = 0; i < 3 * 16; i++) {
        struct hs_machine machine = machines[i % 3];
        machine.node = i % 2 ? (struct hs_link){.alpha = 1e-5, .beta = 1e-8} : machine.node;
        struct hs_topology topology = topology_blocks(96, 4, 4, i % 2 ? 0 : 1 << 18, 0);
        struct hs_shape shape = {.size = 96, .bytes = (int64_t)64 << i / 3, .unit = 8, .topology = &topology};
        struct hs_question question = {.collective = HS_ALLREDUCE, .shape = &shape};
        struct hs_selector selector = {.memory = &hs_heap, .machine = &machine};
        const struct hs_price *price = NULL;
        bad += hs_select_price(&selector, &question, &price) || !price;
        if (price && price->best.spec.alg == dpml) {
            leaders += price->best.spec.with.leaders > 16;
            pieces += price->best.spec.with.pieces > 1;
            sockets += price->best.spec.with.level == HS_SOCKET;
        }
        bad += price && price->best.spec.alg == price->next.spec.alg;
        hs_selector_free(&selector);
        hs_topology_free(&topology, &hs_heap);
    }
    tap_ok(bad == 0 && leaders && pieces && sockets,
           "dpml is best with more than 16 leaders %d times, in pieces %d, "
           "inside sockets %d",
           leaders, pieces, sockets);
}

static void test_memory(void)
{
    struct hs_topology topology = topology_blocks(1024, 256, 1, 1 << 16, 0);
    struct hs_shape shape = {.size = 1024, .bytes = 8, .unit = 8, .topology = &topology};
    hsumma_status status = HSUMMA_ERR_MEMORY;
    int places = 0, bad = 0;
    for (int64_t n = 0; status == HSUMMA_ERR_MEMORY; n += 1 + n / 8, places++) {
        struct failing_memory scarce = {.fail_at = n};
        struct hs_allocator allocator = {failing_memory_get, failing_memory_put, &scarce};
        struct hs_clock_estimate estimate;
        status =
            hs_clock_estimate(hs_alg_find(HS_ALLREDUCE, "smp"), &shape, &machines[0], &allocator, HUGE_VAL, &estimate);
        bad += scarce.out != 0 || (status && status != HSUMMA_ERR_MEMORY);
    }
    hs_topology_free(&topology, &hs_heap);
    tap_ok(bad == 0 && places > 20, "memory fails at %d places: %d wrong", places, bad);
}

int main(void)
{
    machines[0] = machines[1] = hs_profile_builtin.machine;
    machines[1].network = (struct hs_link){.alpha = 4e-5, .beta = 8.5e-9};
    machines[1].inject = 8.5e-9;
    test_closed_forms();
    test_samples();
    test_node_aware();
    test_work();
    test_parameters();
    test_memory();
    test_choices();
    return tap_done();
}
