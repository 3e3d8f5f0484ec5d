#include "calibrate/fit.h"

#include <math.h>

#include "measure/timing.h"

static int at_most(int points)
{
    return points < HS_FIT_POINTS ? points : HS_FIT_POINTS;
}

fit_error fit_error_of(const double *fit, const double *measured, int points)
{
    double error[HS_FIT_POINTS];
    spread errors;

    for (int i = 0; i < at_most(points); i++)
        error[i] = fabs(fit[i] / measured[i] - 1);
    errors = spread_of(error, at_most(points));
    return (fit_error){errors.median, errors.max};
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

fit_error fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link)
{
    hs_fit_line(bytes, seconds, points, link);
    return fit_link_error(link, bytes, seconds, points);
}

double fit_link_seconds(const struct hs_link *link, double bytes)
{
    int is_long = link->eager > 0 && bytes > (double)link->eager;

    return is_long ? link->alpha_long + bytes * link->beta_long : link->alpha + bytes * link->beta;
}

fit_error fit_link_error(const struct hs_link *link, const double *bytes, const double *seconds, int points)
{
    double fit[HS_FIT_POINTS];

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
    double row[HS_FIT_POINTS][HS_FIT_UNKNOWNS], x[HS_FIT_UNKNOWNS], seconds[HS_FIT_POINTS];
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
    hs_fit_nonnegative(row, seconds, points, unknowns, x);
    if (x[0] > 0) /* else the points do not determine a rate */
        *cost = (struct hs_gemm_cost){.flop = x[0], .c = x[1], .call = x[2], .ab = unknowns == 4 ? x[3] : pack};
}
