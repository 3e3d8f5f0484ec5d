/* Fits of a link's parameters to measured times: non-negative least squares of the relative error.  Pure functions. */
#ifndef HS_HSUMMA_NETWORK_LINK_FIT_H
#define HS_HSUMMA_NETWORK_LINK_FIT_H

#include "coll/model/clock.h"

/* Points beyond HS_FIT_POINTS are ignored, except by hs_fit_nonnegative. */
enum { HS_FIT_UNKNOWNS = 4, HS_FIT_POINTS = 64 };

/* The x >= 0 that minimises the relative errors of the rows times x against the (positive) seconds; returns their root
 * mean square.  Unknowns that the points do not determine are 0. */
double hs_fit_nonnegative(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                          double x[HS_FIT_UNKNOWNS]);

/* Fits messages, in ascending order of size: one line alpha + n beta, or two where these fit clearly better. */
void hs_fit_link(const double *bytes, const double *seconds, int points, struct hs_link *link);
/* Fits a single line. */
void hs_fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link);

#endif
