/* Fits of cost models to measured times, with their errors. Pure arithmetic. */
#ifndef HS_BENCHMARKS_CALIBRATE_FIT_H
#define HS_BENCHMARKS_CALIBRATE_FIT_H

#include "hsumma/cost/profile.h"
#include "hsumma/network/link_fit.h"

/* The median and the largest |fit / measured - 1| of the points; NaN without points. */
typedef struct fit_error {
    double median, worst;
} fit_error;
fit_error fit_error_of(const double *fit, const double *measured, int points);

/* Seconds of a message by a link; the error of a link over measured messages. */
double fit_link_seconds(const struct hs_link *link, double bytes);
fit_error fit_link_error(const struct hs_link *link, const double *bytes, const double *seconds, int points);
/* Fits one line to all sizes: a link without an eager limit. */
fit_error fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link);

/* A measured local GEMM. */
typedef struct fit_gemm_point {
    int64_t m, n, k;
    double seconds;
} fit_gemm_point;

/* Among the points with the largest m x n: the smallest k whose rate is within 3 % of the best, limited to 96 .. 768.
 */
int64_t fit_knee(const fit_gemm_point *point, int points);
/* Fits nonnegative costs; leaves *cost unchanged if the points do not determine a rate. pack: seconds per element of A
 * and B, 0 if unknown. */
void fit_gemm(const fit_gemm_point *point, int points, int64_t knee, double pack, struct hs_gemm_cost *cost);

#endif
