#include "hsumma/network/link_fit.h"

#include <math.h>
#include <string.h>

/* Solves n equations in place by Gauss-Jordan elimination with pivoting.  The right side is the column after the
 * coefficients, and becomes the solution.  Returns 0 if the matrix is singular. */
static int solve(double a[HS_FIT_UNKNOWNS][HS_FIT_UNKNOWNS + 1], int n)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(a[r][c]) > fabs(a[pivot][c]))
                pivot = r;
        if (fabs(a[pivot][c]) < 1e-12) /* the columns have been scaled to length 1 */
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

/* The unconstrained fit of the unknowns whose bits are set; returns 0 if there is none, or if an unknown is
 * negative. */
static int fit_some(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, unsigned bits, int unknowns,
                    double x[HS_FIT_UNKNOWNS])
{
    double a[HS_FIT_UNKNOWNS][HS_FIT_UNKNOWNS + 1] = {{0}}, length[HS_FIT_UNKNOWNS];
    int column[HS_FIT_UNKNOWNS], n = 0;
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

static double mean_square(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                          const double x[HS_FIT_UNKNOWNS])
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

/* The best non-negative fit is the unconstrained fit of its positive unknowns: there are few enough subsets to try
 * all. */
double hs_fit_nonnegative(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                          double x[HS_FIT_UNKNOWNS])
{
    double least = HUGE_VAL, some[HS_FIT_UNKNOWNS];
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

static double line_error(const double *bytes, const double *seconds, int points, double *alpha, double *beta)
{
    double row[HS_FIT_POINTS][HS_FIT_UNKNOWNS], x[HS_FIT_UNKNOWNS], error;
    points = points < HS_FIT_POINTS ? points : HS_FIT_POINTS;
    for (int i = 0; i < points; i++) {
        row[i][0] = 1;
        row[i][1] = bytes[i];
    }
    error = hs_fit_nonnegative(row, seconds, points, 2, x);
    *alpha = x[0];
    *beta = x[1];
    return error;
}

void hs_fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link)
{
    *link = (struct hs_link){0};
    line_error(bytes, seconds, points, &link->alpha, &link->beta);
}

/* Root mean square error below which one line is good enough; share of the error that a second line must remove. */
static const double good_enough = 0.05, clear_margin = 0.2;

enum { LEAST_POINTS = 3 /* minimum number of points on a line */ };

void hs_fit_link(const double *bytes, const double *seconds, int points, struct hs_link *link)
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
        if (next >= last && both < least && both < (1 - clear_margin) * one) { /* larger messages are never cheaper */
            least = both;
            *link = two;
        }
    }
}
