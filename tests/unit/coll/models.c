/*
 * The papers' cost models compared with the clock on this library's schedules: node-aware allreduce (Bienz, Olson and
 * Gropp 2019, Section IV) and DPML (Bayatpour et al., SC17, Section 5). With --table the program prints DPML's times by
 * size and leaders, with --nap times for the figures of doc/results/papers/nap.md, and runs no tests.
 */
#include "support/coll/sweep.h"
#include "support/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Typical figures of a Cray XE6 of 2012, because the paper prints none: half a microsecond and 5 GB/s inside a node,
 * 2.5 us and 2 GB/s between two processes, 6 GB/s out of a node, 2 GB/s of sums.
 */
static const struct hs_machine blue_waters = {.alpha = 2.5e-6,
                                              .beta = 1 / 2.0e9,
                                              .gamma = 1 / 2.0e9,
                                              .node = {.alpha = 5e-7, .beta = 1 / 5.0e9},
                                              .inject = 1 / 6.0e9};

/* ceil(log_ppn n): the number of NAP's steps between nodes. */
static int nap_steps(int nodes, int ppn)
{
    return ppn > 1 ? log_up(ppn, nodes) : 0;
}

/* The clock of an allreduce of s bytes on n nodes of ppn processes; room: bytes of shared memory per process. Between
 * nodes recursive doubling is used, as in the papers. If the algorithm does not fit, the report has seconds = NAN. */
static struct hs_clock_report measure(const char *name, int nodes, int ppn, int64_t s, int64_t room,
                                      struct hs_parameters with, const struct hs_machine *machine)
{
    struct hs_topology topology = topology_blocks(nodes * ppn, nodes, 1, room, 0);
    struct hs_shape shape = {.size = nodes * ppn, .bytes = s, .unit = 8, .topology = &topology, .with = with};
    struct hs_clock_report report = {.seconds = NAN};
    shape.with.outer = hs_alg_find(HS_ALLREDUCE, "recursive_doubling");
    if (hs_clock(hs_alg_find(HS_ALLREDUCE, name), &shape, machine, &hs_heap, &report))
        report = (struct hs_clock_report){.seconds = NAN};
    hs_topology_free(&topology, &hs_heap);
    return report;
}

static struct hs_clock_report plain(const char *name, int nodes, int ppn, int64_t s, const struct hs_machine *machine)
{
    return measure(name, nodes, ppn, s, 0, (struct hs_parameters){0}, machine);
}

static double seconds(const char *name, int nodes, int ppn, int64_t s, const struct hs_machine *machine)
{
    return plain(name, nodes, ppn, s, machine).seconds;
}

/* Node-aware allreduce, equations 4 to 6. Inside a node a rank sends and sums log2(ppn) messages; between nodes each
 * sending rank sends one message per step. */
static double inside(const struct hs_machine *m, int ppn, double s)
{
    return log2_up(ppn) * (m->node.alpha + m->node.beta * s);
}

static double between(const struct hs_machine *m, int senders, double s)
{
    return m->alpha + fmax(senders * s * m->inject, s * m->beta);
}

static double recursive_doubling(const struct hs_machine *m, int n, int ppn, double s)
{
    return inside(m, ppn, s) + log2_up(n) * between(m, ppn, s) + (log2_up(n) + log2_up(ppn)) * m->gamma * s;
}

static double smp(const struct hs_machine *m, int n, int ppn, double s)
{
    return 2 * inside(m, ppn, s) + log2_up(n) * between(m, 1, s) + (log2_up(n) + log2_up(ppn)) * m->gamma * s;
}

/* NAP. In every step the process whose counterpart is its own subgroup stays idle, so ppn - 1 of a node send; the paper
 * counts ppn. */
static double nap(const struct hs_machine *m, int n, int ppn, double s, int senders)
{
    int steps = nap_steps(n, ppn);
    return (steps + 1) * (inside(m, ppn, s) + log2_up(ppn) * m->gamma * s) + steps * between(m, senders, s);
}

static void node_aware_equations(void)
{
    const struct hs_machine *m = &blue_waters;
    int exact[3] = {1, 1, 1}, below = 1, runs = 0;

    for (int ppn = 2; ppn <= 16; ppn *= 2)
        for (int n = 1; n * ppn <= 512; n *= 2)
            for (int64_t s = 8; s <= 1 << 20; s *= 512, runs++) {
                double bytes = (double)s;
                exact[0] &=
                    same_price(seconds("recursive_doubling", n, ppn, s, m), recursive_doubling(m, n, ppn, bytes));
                exact[1] &= n == 1 || same_price(seconds("smp", n, ppn, s, m), smp(m, n, ppn, bytes));
                if (lround(pow(ppn, nap_steps(n, ppn))) != n)
                    continue;
                double is = seconds("nap", n, ppn, s, m);
                exact[2] &= same_price(is, nap(m, n, ppn, bytes, ppn - 1));
                below &= is <= nap(m, n, ppn, bytes, ppn) * (1 + 1e-12);
            }
    tap_ok(exact[0], "recursive doubling costs what equation 4 says (%d shapes)", runs);
    tap_ok(exact[1], "SMP costs what equation 5 says; on one node it is an allreduce inside it, which is cheaper");
    tap_ok(exact[2], "NAP costs what equation 6 says with the ppn - 1 processes of a node that send");
    tap_ok(below, "and no more than equation 6 as it is written, with ppn");
}

/* The number of consecutive messages between nodes, by the clock of a machine on which nothing else takes time. */
static int rounds_between(const char *name, int nodes, int ppn)
{
    struct hs_machine only = {.alpha = 1, .node = {.alpha = 1e-9, .beta = 0}};
    return (int)seconds(name, nodes, ppn, 8, &only);
}

static int counts_are(const char *name, int nodes, int ppn, int64_t rank_max, int64_t node_max, int rounds)
{
    struct hs_clock_report report = plain(name, nodes, ppn, 8, &blue_waters);
    return report.between_rank_max.messages == rank_max && report.between_node_max.messages == node_max &&
           report.between_rank_max.bytes == 8 * rank_max && rounds_between(name, nodes, ppn) == rounds;
}

static void node_aware_counts(void)
{
    int good = 1;
    for (int ppn = 2; ppn <= 16; ppn *= 2)
        for (int n = 2; n * ppn <= 512; n *= 2) {
            int steps = nap_steps(n, ppn), log2n = log2_up(n);
            good &= counts_are("recursive_doubling", n, ppn, log2n, (int64_t)ppn * log2n, log2n);
            good &= counts_are("smp", n, ppn, log2n, log2n, log2n);
            if (lround(pow(ppn, steps)) == n)
                good &= counts_are("nap", n, ppn, steps, (int64_t)(ppn - 1) * steps, steps);
        }
    tap_ok(good, "messages between nodes by process, by node and in a row: log2 n, log2 n and log_ppn n");
}

/* Seconds by which SMP is faster than NAP on 256 nodes of 16 processes; negative if it is slower. */
static double lead_of_smp(int64_t s)
{
    return seconds("nap", 256, 16, s, &blue_waters) - seconds("smp", 256, 16, s, &blue_waters);
}

static double gain(const char *over, int nodes, int ppn)
{
    return seconds(over, nodes, ppn, 8, &blue_waters) / seconds("nap", nodes, ppn, 8, &blue_waters);
}

static void node_aware_shape(void)
{
    /* 256 nodes of 16: equation 6 (15 senders) less equation 5 is 4 alpha_l - 6 alpha + s (4 beta_l + 30 / R_N - 8 /
     * R_b). */
    const struct hs_machine *m = &blue_waters;
    double crossing = (6 * m->alpha - 4 * m->node.alpha) / (4 * m->node.beta + 30 * m->inject - 8 * m->beta);
    int64_t at = 8;
    while ((double)at < crossing)
        at *= 2;
    tap_ok(at > 256 && at <= 16384 && lead_of_smp(at / 2) < 0 && lead_of_smp(at) > 0,
           "SMP overtakes NAP between 256 B and 16 KB: at %.0f B (the paper measures about 2 KB)", crossing);
    static const int peaks[][2] = {{16, 4}, {64, 4}, {64, 8}, {16, 16}}; /* {nodes, ppn} */
    int good = 1;
    for (int i = 0; i < 4; i++)
        for (int other = 0; other < 2; other++) {
            const char *over = other ? "smp" : "recursive_doubling";
            int n = peaks[i][0], ppn = peaks[i][1];
            double here = gain(over, n, ppn);
            good &= here > 1 && here > gain(over, n / 2, ppn) && here > gain(over, 2 * n, ppn);
            good &= here > gain(over, n + 1, ppn);
        }
    tap_ok(good, "the gain of NAP over both peaks where the number of nodes is a power of ppn");
}

/*
 * DPML on a cluster of the paper's time: one process gets 3 GB/s of the 12 GB/s that leave a node, and copies at 6
 * GB/s. The paper's a is alpha, b beta, c gamma; a' and b' are those of `shm`.
 */
static const struct hs_machine omni_path = {.alpha = 1.2e-6,
                                            .beta = 1 / 3.0e9,
                                            .gamma = 1 / 4.0e9,
                                            .shm = {.alpha = 2e-7, .beta = 1 / 6.0e9},
                                            .inject = 1 / 12.0e9};

/* Equations 2 and 6: one direction of the copies between a process and the l leaders. */
static double t_copy(const struct hs_machine *m, double n, int leaders)
{
    return leaders * (m->shm.alpha + m->shm.beta * n / leaders);
}

/* Equation 3. It is printed as (p / (h l) - 1) n c, which is 0 for l = ppn, but a leader sums ppn partitions of n/l. */
static double t_comp(const struct hs_machine *m, double n, int ppn, int leaders)
{
    return (ppn - 1) * (n / leaders) * m->gamma;
}

/* Equations 4 and 5: the allreduce between nodes, with one piece or several. */
static double t_comm(const struct hs_machine *m, double n, int nodes, int leaders, int pieces)
{
    return log2_up(nodes) * (m->alpha * pieces + n / leaders * (m->beta + m->gamma));
}

static double dpml_equation(const struct hs_machine *m, double n, int nodes, int ppn, int leaders, int pieces)
{
    return 2 * t_copy(m, n, leaders) + t_comp(m, n, ppn, leaders) + t_comm(m, n, nodes, leaders, pieces);
}

/*
 * Seconds by which the schedule is faster than the equation. A leader does not copy its own partition, so it is ready
 * one copy before the other ranks. If all ranks are leaders, the time of that copy is saved; otherwise the leaders
 * meanwhile do the l - 1 sums of the leaders' partitions. Between nodes the messages of some pieces overlap the sums of
 * others. Of `jobs` messages and `jobs` sums, all of the longer kind count, but only one of the shorter kind (a
 * two-machine flow shop with equal jobs).
 */
static double dpml_saving(const struct hs_machine *m, double n, int nodes, int ppn, int leaders, int pieces)
{
    int jobs = pieces > 1 ? log2_up(nodes) * pieces : 1;
    double copy = t_copy(m, n, leaders) / leaders, sums = (leaders - 1) * (n / leaders) * m->gamma;
    double piece = n / leaders / pieces, message = m->alpha + piece * m->beta;
    return (leaders == ppn ? copy : fmin(copy, sums)) + (jobs - 1) * fmin(message, piece * m->gamma);
}

static double dpml(const struct hs_machine *m, int64_t n, int nodes, int ppn, int leaders, int pieces)
{
    struct hs_parameters with = {.leaders = leaders, .pieces = pieces};
    return measure("dpml", nodes, ppn, n, n, with, m).seconds;
}

static void dpml_equations(void)
{
    struct hs_machine m = omni_path;
    int exact = 1, above = 1, runs = 0;
    m.inject = 0; /* the paper's model has no injection limit */
    for (int ppn = 2; ppn <= 16; ppn *= 2)
        for (int h = 2; h * ppn <= 128; h *= 2)
            for (int l = 1; l <= ppn; l *= 2)
                for (int k = 1; k <= 4; k *= 2)
                    for (int64_t n = 8 * 16 * 4; n <= 1 << 20; n *= 32, runs++) {
                        double is = dpml(&m, n, h, ppn, l, k), says = dpml_equation(&m, (double)n, h, ppn, l, k);
                        exact &= same_price(is, says - dpml_saving(&m, (double)n, h, ppn, l, k));
                        above &= is <= says * (1 + 1e-12);
                    }
    tap_ok(exact, "DPML costs what equation 7 says, less what the schedule saves (%d shapes)", runs);
    tap_ok(above, "and no more than equation 7 with (ppn - 1) n/l c for the sums");
}

/* Equation 3 as printed compared with the sums in the schedule: per leader ppn - 1 partitions inside its node and log2
 * h between the nodes. */
static void dpml_counts(void)
{
    int good = 1, copies = 1, printed = 1;
    for (int l = 1; l <= 16; l *= 2) {
        struct hs_parameters with = {.leaders = l, .pieces = 2};
        int64_t n = 1 << 16, part = n / l, ppn = 16, h = 8;
        struct hs_clock_report report = measure("dpml", 8, 16, n, n, with, &omni_path);
        good &= report.reduced_rank_max == (ppn - 1) * part + log2_up(8) * part;
        good &=
            report.between_rank_max.messages == 2 * log2_up(8) && report.between_rank_max.bytes == part * log2_up(8);
        good &= report.between_node_max.bytes == n * log2_up(8) && report.tier[HS_IN_SOCKET].messages == 0;
        copies &= report.shared_copies == h * (2 * ppn * n - l * part); /* without a leader's own partition */
        printed &= (ppn / l - 1) * n <= (ppn - 1) * part && ((ppn / l - 1) * n == (ppn - 1) * part) == (l == 1);
    }
    tap_ok(good, "a leader sums ppn - 1 partitions of its node, and sends log2 h messages per piece");
    tap_ok(copies, "all copy their vectors in and out, a leader all but its own partition");
    tap_ok(printed, "equation 3 as printed is less than that for more than one leader");
}

/* Equation 1, recursive doubling, for any number of processes. If that is not a power of two, two messages and a sum
 * are added to the cost of the largest power of two below. */
static void pure_recursive_doubling(void)
{
    const struct hs_machine *m = &omni_path;
    struct hs_machine alone = *m;
    double n = 4096, message = m->alpha + n * m->beta, sum = n * m->gamma;
    int good = 1;
    alone.inject = 0;
    for (int p = 2; p <= 33; p++) {
        int down = 1 << log2_up(p) == p ? log2_up(p) : log2_up(p) - 1, odd = 1 << down != p;
        good &= same_price(seconds("recursive_doubling", p, 1, 4096, &alone),
                           down * (message + sum) + odd * (2 * message + sum));
    }
    tap_ok(good, "recursive doubling costs what equation 1 says; not a power of two, a message more");
}

static int best_leaders(int64_t n)
{
    int best = 1;
    for (int l = 2; l <= 16; l *= 2)
        if (dpml(&omni_path, n, 32, 16, l, 1) < dpml(&omni_path, n, 32, 16, best, 1))
            best = l;
    return best;
}

static void dpml_shape(void)
{
    int few = best_leaders(64), some = best_leaders(8192), many = best_leaders(1 << 19);
    double faster = dpml(&omni_path, 1 << 19, 32, 16, 1, 1) / dpml(&omni_path, 1 << 19, 32, 16, 16, 1);
    tap_ok(few < some && some < many && many == 16, "long vectors want more leaders: %d, %d, %d for 64 B, 8 KB, 512 KB",
           few, some, many);
    tap_ok(faster > 3 && faster < 8, "512 KB: 16 leaders are %.1f times as fast as 1 (the paper: 4.3 and 4.9)", faster);
}

/* Prints the times of allreduces of s bytes on n nodes as CSV: by the clock, and by equations 4 to 6 as printed. */
static void print_times(const struct hs_machine *m, int n, int ppn, int64_t s)
{
    double bytes = (double)s;
    printf("by,algorithm,us\n");
    printf("clock,RD,%.6g\n", 1e6 * seconds("recursive_doubling", n, ppn, s, m));
    printf("clock,SMP,%.6g\nclock,NAP,%.6g\n", 1e6 * seconds("smp", n, ppn, s, m), 1e6 * seconds("nap", n, ppn, s, m));
    printf("equation,RD,%.6g\nequation,SMP,%.6g\n", 1e6 * recursive_doubling(m, n, ppn, bytes),
           1e6 * smp(m, n, ppn, bytes));
    printf("equation,NAP,%.6g\n", 1e6 * nap(m, n, ppn, bytes, ppn));
}

/* Prints the length from which SMP is faster than NAP, by the clock. */
static void print_crossing(const struct hs_machine *m, int n, int ppn)
{
    int64_t below = 8, above = 1 << 24;
    while (above - below > 8) {
        int64_t s = (below + above) / 16 * 8;
        *(seconds("smp", n, ppn, s, m) < seconds("nap", n, ppn, s, m) ? &above : &below) = s;
    }
    printf("bytes\n%lld\n", (long long)above);
}

/* --nap NODES PPN BYTES, or --nap NODES PPN crossing; then, if given, the machine's alpha, beta, inject, gamma, and
 * alpha and beta inside a node. */
static void print_nap(int count, char **word)
{
    struct hs_machine m = blue_waters;
    double *price[] = {&m.alpha, &m.beta, &m.inject, &m.gamma, &m.node.alpha, &m.node.beta};
    for (int i = 3; i < count && i < 9; i++)
        *price[i - 3] = atof(word[i]);
    if (strcmp(word[2], "crossing") == 0)
        print_crossing(&m, atoi(word[0]), atoi(word[1]));
    else
        print_times(&m, atoi(word[0]), atoi(word[1]), atoll(word[2]));
}

/* Prints a table of DPML's times on 32 nodes of 16 processes, by size and number of leaders, and with 4 pieces. */
static void print_leaders(void)
{
    puts("\n| bytes | l = 1 (us) | 2 | 4 | 8 | 16 | 16, k = 4 |\n|---|---|---|---|---|---|---|");
    for (int64_t n = 512; n <= 1 << 21; n *= 4) {
        printf("| %lld ", (long long)n);
        for (int l = 1; l <= 16; l *= 2)
            printf("| %.1f ", 1e6 * dpml(&omni_path, n, 32, 16, l, 1));
        printf("| %.1f |\n", 1e6 * dpml(&omni_path, n, 32, 16, 16, 4));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        print_leaders();
        return 0;
    }
    if (argc > 4 && strcmp(argv[1], "--nap") == 0) {
        print_nap(argc - 2, argv + 2);
        return 0;
    }
    node_aware_equations();
    node_aware_counts();
    node_aware_shape();
    pure_recursive_doubling();
    dpml_equations();
    dpml_counts();
    dpml_shape();
    return tap_done();
}
