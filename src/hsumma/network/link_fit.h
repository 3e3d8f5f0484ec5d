/* Fits of a link's costs to measured times: least squares of the relative error, with nothing negative.  Pure. */
#ifndef HS_HSUMMA_NETWORK_LINK_FIT_H
#define HS_HSUMMA_NETWORK_LINK_FIT_H

#include "coll/model/clock.h"

/* More points than these are not looked at, except by hs_fit_nonnegative. */
enum { HS_FIT_UNKNOWNS = 4, HS_FIT_POINTS = 64 };

/* x >= 0 that makes the relative errors of row x to the (positive) seconds least; returns their root mean square. What
 * the points cannot tell is 0. */
double hs_fit_nonnegative(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                          double x[HS_FIT_UNKNOWNS]);

/* Messages, in ascending order of size: one line alpha + n beta, or two, where that is clearly nearer to the points. */
void hs_fit_link(const double *bytes, const double *seconds, int points, struct hs_link *link);
/* One line in any case. */
void hs_fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link);

#endif
