/* The fits of hsumma calibrate recover the parameters that generated the points; no fitted cost is negative. */
#include "calibrate/fit.h"
#include "support/random.h"
#include "support/tap.h"

#include <math.h>

static int near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

static double error_at(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, int unknowns, const double *x)
{
    double sum = 0;
    for (int i = 0; i < points; i++) {
        double fit = 0;
        for (int u = 0; u < unknowns; u++)
            fit += row[i][u] * x[u];
        sum += (fit / seconds[i] - 1) * (fit / seconds[i] - 1);
    }
    return sqrt(sum / points);
}

/* Fits random points, some of which pull towards negative costs. No small step to other nonnegative costs may improve
 * the result. */
static void test_nonnegative(void)
{
    enum { CASES = 300, POINTS = 12 };
    int exact = 1, feasible = 1, least = 1, bounded = 0;
    for (int c = 0; c < CASES; c++) {
        double row[POINTS][HS_FIT_UNKNOWNS], seconds[POINTS], made[HS_FIT_UNKNOWNS], x[HS_FIT_UNKNOWNS];
        int unknowns = 1 + c % HS_FIT_UNKNOWNS, noisy = c >= CASES / 2;
        for (int u = 0; u < unknowns; u++)
            made[u] = (noisy ? draw_fraction() - 0.3 : draw_fraction() + 0.1) * pow(10, -3.0 * u);
        for (int i = 0; i < POINTS; i++) {
            seconds[i] = noisy ? 0.05 * draw_fraction() : 0;
            for (int u = 0; u < unknowns; u++) {
                row[i][u] = (draw_fraction() + 0.01) * pow(10, 3.0 * u);
                seconds[i] += row[i][u] * made[u];
            }
            seconds[i] = fabs(seconds[i]) + 1e-3 * noisy;
        }
        double error = hs_fit_nonnegative(row, seconds, POINTS, unknowns, x);
        for (int u = 0; u < unknowns; u++) {
            exact &= noisy || near(x[u], made[u], 1e-6);
            feasible &= x[u] >= 0;
            bounded += x[u] == 0;
            for (int side = -1; side <= 1; side += 2) {
                double moved[HS_FIT_UNKNOWNS];
                for (int v = 0; v < unknowns; v++)
                    moved[v] = x[v];
                moved[u] = fmax(0, x[u] + side * 1e-3 * pow(10, -3.0 * u));
                least &= error_at(row, seconds, POINTS, unknowns, moved) >= error - 1e-9;
            }
        }
        least &= near(error_at(row, seconds, POINTS, unknowns, x), error, 1e-9) || error < 1e-9;
    }
    tap_ok(exact, "least squares: exact points give what made them");
    tap_ok(feasible && bounded > 20, "nothing is negative, though some points want it (%d)", bounded);
    tap_ok(least, "nothing near the answer is better");
    double row[2][HS_FIT_UNKNOWNS] = {{1, 2}, {2, 4}}, seconds[2] = {3, 6}, x[HS_FIT_UNKNOWNS];
    tap_ok(hs_fit_nonnegative(row, seconds, 2, 2, x) < 1e-9 && near(x[0] + 2 * x[1], 3, 1e-9),
           "what the points cannot tell apart: one of the answers");
}

static const double bytes[] = {8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304};
enum { SIZES = sizeof bytes / sizeof *bytes };

static void test_link(void)
{
    struct hs_link two = {.alpha = 5e-7, .beta = 2e-10, .eager = 16384, .alpha_long = 6e-6, .beta_long = 1e-10};
    struct hs_link one = {.alpha = 8e-6, .beta = 8e-9}, found;
    double seconds[SIZES];
    for (int i = 0; i < SIZES; i++)
        seconds[i] = fit_link_seconds(&two, bytes[i]);
    hs_fit_link(bytes, seconds, SIZES, &found);
    tap_ok(found.eager == 16384 && near(found.alpha, two.alpha, 1e-6) && near(found.beta, two.beta, 1e-6) &&
               near(found.alpha_long, two.alpha_long, 1e-6) && near(found.beta_long, two.beta_long, 1e-6),
           "messages: eager and rendezvous are found apart, and the size between them");
    for (int i = 0; i < SIZES; i++)
        seconds[i] = fit_link_seconds(&one, bytes[i]) * (1 + 0.04 * (draw_fraction() - 0.5));
    hs_fit_link(bytes, seconds, SIZES, &found);
    tap_ok(found.eager == 0 && near(found.alpha, one.alpha, 0.05) && near(found.beta, one.beta, 0.05),
           "one line stays one, with noise of 2 %%");
    int sane = 1;
    for (int c = 0; c < 1000; c++) {
        for (int i = 0; i < SIZES; i++)
            seconds[i] = fit_link_seconds(&two, bytes[i]) * pow(10, 2 * draw_fraction() - 1);
        hs_fit_link(bytes, seconds, SIZES, &found);
        double last = 0;
        for (double n = 1; n < 1e8; n *= 1.3) {
            sane &= fit_link_seconds(&found, n) >= last && fit_link_seconds(&found, n) >= 0;
            last = fit_link_seconds(&found, n);
        }
    }
    tap_ok(sane, "whatever the noise: never negative, and more bytes are never cheaper");
    sane = 1;
    for (int points = 1; points < 4; points++) {
        seconds[0] = 1e-6, seconds[1] = 2e-6, seconds[2] = 1e-5;
        hs_fit_link(bytes, seconds, points, &found);
        sane &= found.alpha >= 0 && found.beta >= 0 && found.eager == 0 && found.alpha + found.beta > 0;
    }
    tap_ok(sane, "few points: one line");
}

static void test_gemm(void)
{
    static const int edges[] = {128, 384, 1024}, widths[] = {16, 48, 96, 192, 384, 768};
    struct hs_gemm_cost cost = {.flop = 1.8e-11, .c = 4e-10, .ab = 1e-9, .call = 1e-6}, found;
    fit_gemm_point point[54];
    int points = 0;
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++)
            for (int k = 0; k < 6; k++) {
                double mn = (double)edges[m] * edges[n], w = widths[k];
                point[points++] =
                    (fit_gemm_point){edges[m], edges[n], widths[k],
                                     cost.call + 2 * cost.flop * mn * w + cost.c * mn * (w > 192 ? w / 192 : 1) +
                                         cost.ab * w * (edges[m] + edges[n])};
            }
    fit_gemm(point, points, 192, 0, &found);
    tap_ok(near(found.flop, cost.flop, 1e-6) && near(found.c, cost.c, 1e-6) && near(found.ab, cost.ab, 1e-6) &&
               near(found.call, cost.call, 1e-4),
           "GEMM: the costs that made the times");
    fit_gemm(point, points, 192, cost.ab, &found);
    tap_ok(near(found.flop, cost.flop, 1e-6) && near(found.c, cost.c, 1e-6) && found.ab == cost.ab &&
               near(found.call, cost.call, 1e-4),
           "GEMM: likewise where the price of packing is known");
    /* up to width 192 the cost of C per flop falls as the width grows, so smaller widths are slower by more than 3 % */
    tap_ok(fit_knee(point, points) == 192, "the knee: the least width within 3 %% of the best, in the largest product");
    for (int i = 0; i < points; i++)
        point[i].seconds = 1e-11 * (double)(point[i].m * point[i].n * point[i].k);
    tap_ok(fit_knee(point, points) == 96, "a BLAS without a knee: not below 96");
    found = cost;
    for (int i = 0; i < points; i++)
        point[i].seconds = 1;
    fit_gemm(point, points, 96, 0, &found);
    tap_ok(found.flop > 0, "times that say nothing about a rate leave one");
    double fit[4] = {1, 2, 3, 4}, measured[4] = {1, 1, 3, 5};
    fit_error e = fit_error_of(fit, measured, 4);
    tap_ok(near(e.median, 0.1, 1e-9) && near(e.worst, 1, 1e-9) && isnan(fit_error_of(fit, measured, 0).worst),
           "errors: the median and the worst");
}

int main(void)
{
    test_nonnegative();
    test_link();
    test_gemm();
    return tap_done();
}
