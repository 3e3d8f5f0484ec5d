/* Lower bounds on traffic, and the choice of P x Q x L processes if the caller leaves the layouts open: compared with
 * results derived by hand and with counts of elements. */
#include "dist/bound.h"
#include "dist/layers.h"
#include "support/random.h"
#include "support/tap.h"

#include <math.h>
#include <time.h>

enum { N_MAX = 9, PROCESSES_MAX = 16 };

/* Bounds. */

/* Bounds derived by hand from the theorem; the last two cases have a memory limit. */
static void test_by_hand(void)
{
    static const struct {
        int64_t extent[3];
        double processes, memory, elements;
    } cases[] = {
        {{2, 2, 1000}, 10, 0, 4 - 0.4},                 /* one long dimension: C moves, except each process's part */
        {{1000, 2, 2}, 10, 0, 4 - 0.4},                 /* one long dimension: B moves */
        {{64, 64, 4}, 16, 0, 2 * 16 * 4 - 32.0},        /* two long: parts of 16 x 16, each needs 16 x 4 twice */
        {{100, 100, 100}, 8, 0, 3 * 2500 - 3 * 1250.0}, /* no long dimension: cubes of 50 */
        {{100, 100, 100}, 1, 0, 0},                     /* one process has all elements */
        {{100, 100, 0}, 8, 0, 0},                       /* no multiplication */
        {{100, 100, 100}, 8, 2500, 3750},               /* cubes would need more memory */
        {{1000, 1000, 1000}, 1000, 3600, 2 * 1e9 / (1000 * 60.0) - 3000},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        double found = hs_bound_elements(cases[i].extent, cases[i].processes, cases[i].memory);
        double want = cases[i].elements;
        tap_ok(fabs(found - want) < 1e-9 * (1 + want), "by hand: %g elements, %g by the theorem", want, found);
    }
}

static double grid_mean(const int64_t extent[3], const int parts[3])
{
    double m = (double)extent[0], n = (double)extent[1], k = (double)extent[2];
    return m * k / parts[0] / parts[2] * (1 - 1.0 / parts[1]) + k * n / parts[1] / parts[2] * (1 - 1.0 / parts[0]) +
           m * n / parts[0] / parts[1] * (1 - 1.0 / parts[2]);
}

/* No three-dimensional grid moves less than the bound; if parts can be cubes, some grid attains it. */
static void test_grids(void)
{
    int under = 0, attained = 0, fitting = 0;
    for (int draws = 0; draws < 3000; draws++) {
        int64_t extent[3], whole[3];
        int fit[3] = {1 + draw(6), 1 + draw(6), 1 + draw(6)}, processes = fit[0] * fit[1] * fit[2], edge = 1 + draw(40);
        for (int i = 0; i < 3; i++) {
            extent[i] = 1 + draw(200);
            whole[i] = (int64_t)edge * fit[i]; /* multiples, so that cubes fill the space exactly */
        }
        double bound = hs_bound_elements(extent, processes, 0), tight = hs_bound_elements(whole, processes, 0),
               least = 1e300;
        for (int p = 1; p <= processes; p++)
            for (int q = 1; p * q <= processes; q++)
                if (processes % (p * q) == 0) {
                    const int parts[3] = {p, q, processes / p / q};
                    under += grid_mean(extent, parts) < bound * (1 - 1e-12) - 1e-9;
                    least = fmin(least, grid_mean(whole, parts));
                }
        attained += fabs(least - tight) < 1e-9 * (1 + tight);
        fitting++;
    }
    tap_ok(!under, "no grid undercuts the bound (%d do)", under);
    tap_ok(attained == fitting, "where cubes fit, a grid attains it: %d of %d", attained, fitting);
}

/* Layers. */

/* The part that has index `at`, if n indices are cut into `parts` parts as even as possible; sets its first index
 * and length. */
static int owner(int n, int parts, int at, int *first, int *length)
{
    int begin = 0;
    for (int part = 0; part < parts; part++) {
        int size = (n - begin + parts - part - 1) / (parts - part);
        if (at < begin + size) {
            *first = begin;
            *length = size;
            return part;
        }
        begin += size;
    }
    return -1;
}

static int owner_in(int n, int parts, int outer_parts, int at, int *outer)
{
    int first = 0, length = 0, inner_first, inner_length;
    *outer = owner(n, outer_parts, at, &first, &length);
    return owner(length, parts, at - first, &inner_first, &inner_length);
}

static int part_of(int n, int parts, int at)
{
    int first, length;
    return owner(n, parts, at, &first, &length);
}

/* The number of elements that process at[] = (i, j, l) receives, counted one by one: those of A and B that it needs and
 * does not own, and the other layers' sums for its share of C. cut: shares of C are columns of the process's tile, not
 * rows. */
static int64_t count_process(const int e[3], const int g[3], const int at[3], int cut)
{
    int64_t elements = 0;
    int layer, tile;
    for (int k = 0; k < e[2]; k++) {
        int column = owner_in(e[2], g[1], g[2], k, &layer), row = owner_in(e[2], g[0], g[2], k, &layer);
        for (int i = 0; i < e[0] && layer == at[2]; i++)
            elements += part_of(e[0], g[0], i) == at[0] && column != at[1];
        for (int j = 0; j < e[1] && layer == at[2]; j++)
            elements += part_of(e[1], g[1], j) == at[1] && row != at[0];
    }
    for (int i = 0; i < e[0]; i++)
        for (int j = 0; j < e[1]; j++) {
            int share = cut ? owner_in(e[1], g[2], g[1], j, &tile) : owner_in(e[0], g[2], g[0], i, &tile);
            if (part_of(e[0], g[0], i) == at[0] && part_of(e[1], g[1], j) == at[1] && share == at[2])
                elements += g[2] - 1;
        }
    return elements;
}

static int64_t count_all(const int e[3], const int g[3], int cut)
{
    int64_t most = 0;
    for (int i = 0; i < g[0]; i++)
        for (int j = 0; j < g[1]; j++)
            for (int l = 0; l < g[2]; l++) {
                const int at[3] = {i, j, l};
                int64_t one = count_process(e, g, at, cut);
                most = one > most ? one : most;
            }
    return most;
}

/* The fewest elements that the busiest process receives, over all shapes of at least `least` processes that fit into
 * `memory` (0: no limit); -1 if there is none. *layers becomes the least number of layers with which that is possible.
 * Compares hs_layers_count with a direct count for each shape. */
static int64_t least_of_all(const int e[3], int processes, int least, int64_t memory, int *layers, int *wrong)
{
    const int64_t extent[3] = {e[0], e[1], e[2]};
    int64_t best = -1;
    *layers = 0;
    for (int p = 1; p <= e[0] && p <= processes; p++)
        for (int q = 1; q <= e[1] && p * q <= processes; q++)
            for (int l = 1; l <= e[2] && p * q * l <= processes; l++) {
                const int g[3] = {p, q, l};
                int64_t rows = count_all(e, g, 0), cols = count_all(e, g, 1), one = rows < cols ? rows : cols;
                struct hs_layers said = hs_layers_count(extent, p, q, l);
                *wrong += said.received != one || (said.cut ? cols : rows) != one;
                if (p * q * l < least || (memory && said.memory > memory))
                    continue;
                if (best < 0 || one < best || (one == best && l < *layers))
                    *layers = l;
                best = best < 0 || one < best ? one : best;
            }
    return best;
}

static void test_choice(void)
{
    int wrong = 0, miscounted = 0, layered = 0, limited = 0, none = 0;
    for (int draws = 0; draws < 300; draws++) {
        int e[3] = {1 + draw(N_MAX), 1 + draw(N_MAX), 1 + draw(N_MAX)}, layers, layers_limited;
        int processes = 1 + draw(PROCESSES_MAX), least = processes - draw(3);
        const int64_t extent[3] = {e[0], e[1], e[2]};
        struct hs_layers found = hs_layers_choose(extent, processes, least, 0, 0);
        int64_t want = least_of_all(e, processes, least, 0, &layers, &miscounted);
        wrong += want >= 0 && (found.received != want || found.extent[2] != layers);
        layered += found.extent[2] > 1;
        int64_t memory = found.memory - 1;
        struct hs_layers less = hs_layers_choose(extent, processes, least, 0, memory);
        want = least_of_all(e, processes, least, memory, &layers_limited, &miscounted);
        wrong += memory > 0 && want >= 0 &&
                 (less.received != want || less.extent[2] != layers_limited || less.memory > memory);
        limited += memory > 0 && want >= 0;
        none += less.extent[0] == 0;
    }
    tap_ok(!miscounted, "counts, element by element (%d are wrong)", miscounted);
    tap_ok(!wrong && layered > 50 && limited > 20,
           "the best of all: %d wrong; %d with layers, %d within less memory, "
           "%d have no room",
           wrong, layered, limited, none);
}

/* A process stores its own parts, and with layers also a partial result of C. */
static void test_memory(void)
{
    const int64_t extent[3] = {12, 12, 24};
    struct hs_layers flat = hs_layers_count(extent, 2, 3, 1), deep = hs_layers_count(extent, 2, 3, 2);
    tap_ok(flat.memory == 6 * 8 + 12 * 4 + 6 * 4, "one layer: its parts of A, B and C: %d", (int)flat.memory);
    tap_ok(deep.memory == 6 * 4 + 6 * 4 + 6 * 4 + 12, "two: half of C's part, and all of it in partial sums: %d",
           (int)deep.memory);
}

static void test_one_layer(void)
{
    const int64_t extent[3] = {64, 64, 64};
    struct hs_layers any = hs_layers_choose(extent, 8, 8, 0, 0), one = hs_layers_choose(extent, 8, 8, 1, 0);
    tap_ok(any.extent[2] == 2 && one.extent[2] == 1 && one.received > any.received, "2 layers, if there may be 2");
}

static void test_large(void)
{
    static const struct {
        int64_t extent[3];
        int processes;
    } cases[] = {
        {{46656, 46656, 46656}, 46656}, {{1 << 20, 1 << 20, 1 << 20}, 18432}, {{17408, 17408, 3735552}, 18432}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        clock_t start = clock();
        struct hs_layers found =
            hs_layers_choose(cases[i].extent, cases[i].processes, cases[i].processes - cases[i].processes / 32, 0, 0);
        double bound = hs_bound_elements(cases[i].extent, cases[i].processes, 0);
        tap_diag("%g ms of processor time", 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        tap_ok((double)found.received < 1.05 * bound, "%d processes: %d x %d x %d, %.4f of the bound",
               cases[i].processes, found.extent[0], found.extent[1], found.extent[2], (double)found.received / bound);
    }
}

int main(void)
{
    draw_seed(19);
    test_by_hand();
    test_grids();
    test_choice();
    test_memory();
    test_one_layer();
    test_large();
    return tap_done();
}
