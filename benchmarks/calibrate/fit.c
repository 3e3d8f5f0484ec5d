#include "calibrate/fit.h"

#include <math.h>
#include <string.h>

#include "measure/timing.h"

static int at_most(int points)
{
    return points < FIT_POINTS ? points : FIT_POINTS;
}

fit_error fit_error_of(const double *fit, const double *measured, int points)
{
    double error[FIT_POINTS];
    spread errors;

    for (int i = 0; i < at_most(points); i++)
        error[i] = fabs(fit[i] / measured[i] - 1);
    errors = spread_of(error, at_most(points));
    return (fit_error){errors.median, errors.max};
}

/* --- least squares ------------------------------------------------------------------------------------------------ */

/* Solves n equations in place by elimination with pivots: the right side follows the coefficients, and becomes the
 * solution. Returns 0 if they are singular. */
static int solve(double a[FIT_UNKNOWNS][FIT_UNKNOWNS + 1], int n)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;

        for (int r = c + 1; r < n; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (fabs(a[pivot][c]) < 1e-12) /* columns have length 1 */
            return 0;
        for (int j = 0; j <= n; j++) {
            double swap = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = swap;
        }
        for (int r = 0; r < n; r++) {
            double factor = r == c ? 0 : a[r][c] / a[c][c];

            for (int j = c; j <= n; j++)
                a[r][j] -= factor * a[c][j];
        }
    }
    for (int c = 0; c < n; c++)
        a[c][n] /= a[c][c];
    return 1;
}

/* The unconstrained fit with the unknowns whose bits are set; 0 if there is none, or if something is negative in it. */
static int fit_some(double (*row)[FIT_UNKNOWNS], const double *seconds, int points, unsigned bits, int unknowns,
                    double x[FIT_UNKNOWNS])
{
    double a[FIT_UNKNOWNS][FIT_UNKNOWNS + 1] = {{0}}, length[FIT_UNKNOWNS];
    int column[FIT_UNKNOWNS], n = 0;

    for (int u = 0; u < unknowns; u++) {
        double sum = 0;

        x[u] = 0;
        for (int i = 0; i < points; i++)
            sum += row[i][u] / seconds[i] * (row[i][u] / seconds[i]);
        if (bits >> u & 1 && sum == 0)
            return 0;
        length[n] = sqrt(sum);
        column[n] = u;
        n += bits >> u & 1;
    }
    for (int i = 0; i < points; i++)
        for (int r = 0; r < n; r++) {
            double left = row[i][column[r]] / seconds[i] / length[r];

            for (int c = 0; c < n; c++)
                a[r][c] += left * row[i][column[c]] / seconds[i] / length[c];
            a[r][n] += left;
        }
    if (!solve(a, n))
        return 0;
    for (int r = 0; r < n; r++) {
        x[column[r]] = a[r][n] / length[r];
        if (a[r][n] < 0)
            return 0;
    }
    return 1;
}

static double mean_square(double (*row)[FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                          const double x[FIT_UNKNOWNS])
{
    double sum = 0;

    for (int i = 0; i < points; i++) {
        double fit = 0;

        for (int u = 0; u < unknowns; u++)
            fit += row[i][u] * x[u];
        sum += (fit / seconds[i] - 1) * (fit / seconds[i] - 1);
    }
    return points > 0 ? sqrt(sum / points) : 0;
}

/* The best fit without negative unknowns is the free fit of those that are positive in it: few enough to try all. */
double fit_nonnegative(double (*row)[FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                       double x[FIT_UNKNOWNS])
{
    double least = HUGE_VAL, some[FIT_UNKNOWNS];

    memset(x, 0, sizeof *x * (size_t)unknowns);
    for (unsigned bits = 1; bits < 1u << unknowns; bits++) {
        double error;

        if (!fit_some(row, seconds, points, bits, unknowns, some))
            continue;
        error = mean_square(row, seconds, points, unknowns, some);
        if (error < least) {
            least = error;
            memcpy(x, some, sizeof *x * (size_t)unknowns);
        }
    }
    return least;
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

static double line_error(const double *bytes, const double *seconds, int points, double *alpha, double *beta)
{
    double row[FIT_POINTS][FIT_UNKNOWNS], x[FIT_UNKNOWNS], error;

    points = at_most(points);
    for (int i = 0; i < points; i++) {
        row[i][0] = 1;
        row[i][1] = bytes[i];
    }
    error = fit_nonnegative(row, seconds, points, 2, x);
    *alpha = x[0];
    *beta = x[1];
    return error;
}

fit_error fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link)
{
    *link = (struct hs_link){0};
    line_error(bytes, seconds, points, &link->alpha, &link->beta);
    return fit_link_error(link, bytes, seconds, points);
}

/* Below this error (root mean square) one line is good enough; a second one has to take away so much of the error. */
static const double good_enough = 0.05, clear_margin = 0.2;

enum { LEAST_POINTS = 3 /* of a line */ };

void fit_link(const double *bytes, const double *seconds, int points, struct hs_link *link)
{
    double one, least;

    *link = (struct hs_link){0};
    one = least = line_error(bytes, seconds, points, &link->alpha, &link->beta);
    for (int below = LEAST_POINTS; below <= points - LEAST_POINTS && one > good_enough; below++) {
        struct hs_link two = {.eager = (int64_t)bytes[below - 1]};
        int above = points - below;
        double low = line_error(bytes, seconds, below, &two.alpha, &two.beta);
        double high = line_error(bytes + below, seconds + below, above, &two.alpha_long, &two.beta_long);
        double both = sqrt((below * low * low + above * high * high) / points);

        double last = two.alpha + bytes[below - 1] * two.beta, next = two.alpha_long + bytes[below - 1] * two.beta_long;

        if (next >= last && both < least && both < (1 - clear_margin) * one) { /* more bytes are never cheaper */
            least = both;
            *link = two;
        }
    }
}

double fit_link_seconds(const struct hs_link *link, double bytes)
{
    int is_long = link->eager > 0 && bytes > (double)link->eager;

    return is_long ? link->alpha_long + bytes * link->beta_long : link->alpha + bytes * link->beta;
}

fit_error fit_link_error(const struct hs_link *link, const double *bytes, const double *seconds, int points)
{
    double fit[FIT_POINTS];

    points = at_most(points);
    for (int i = 0; i < points; i++)
        fit[i] = fit_link_seconds(link, bytes[i]);
    return fit_error_of(fit, seconds, points);
}

/* --- GEMM --------------------------------------------------------------------------------------------------------- */

enum { LEAST_KNEE = 96, MOST_KNEE = 768 };

static double rate(const fit_gemm_point *p)
{
    return (double)p->m * (double)p->n * (double)p->k / p->seconds;
}

int64_t fit_knee(const fit_gemm_point *point, int points)
{
    int64_t most = 0, knee = MOST_KNEE;
    double best = 0;

    for (int i = 0; i < points; i++)
        most = point[i].m * point[i].n > most ? point[i].m * point[i].n : most;
    for (int i = 0; i < points; i++)
        if (point[i].m * point[i].n == most && rate(&point[i]) > best)
            best = rate(&point[i]);
    for (int i = 0; i < points; i++)
        if (point[i].m * point[i].n == most && point[i].k < knee && rate(&point[i]) >= 0.97 * best)
            knee = point[i].k;
    return knee > LEAST_KNEE ? knee : LEAST_KNEE;
}

void fit_gemm(const fit_gemm_point *point, int points, int64_t knee, double pack, struct hs_gemm_cost *cost)
{
    double row[FIT_POINTS][FIT_UNKNOWNS], x[FIT_UNKNOWNS], seconds[FIT_POINTS];
    int unknowns = pack > 0 ? 3 : 4;

    points = at_most(points);
    for (int i = 0; i < points; i++) {
        double m = (double)point[i].m, n = (double)point[i].n, k = (double)point[i].k, packed = m * k + k * n;

        row[i][0] = 2 * m * n * k;
        row[i][1] = m * n * fmax(1, k / (double)knee);
        row[i][2] = 1;
        row[i][3] = packed;
        seconds[i] = fmax(point[i].seconds - pack * packed, point[i].seconds / 2);
    }
    fit_nonnegative(row, seconds, points, unknowns, x);
    if (x[0] > 0) /* else the points say nothing about a rate */
        *cost = (struct hs_gemm_cost){.flop = x[0], .c = x[1], .call = x[2], .ab = unknowns == 4 ? x[3] : pack};
}
