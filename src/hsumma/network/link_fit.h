/* Fits of a link's parameters to measured times: non-negative least squares of the relative error.  Pure functions. */
#ifndef HS_HSUMMA_NETWORK_LINK_FIT_H
#define HS_HSUMMA_NETWORK_LINK_FIT_H

#include "coll/model/clock.h"

/* A line is fitted to the first HS_FIT_POINTS of its points; hs_fit_nonnegative uses all points. */
enum { HS_FIT_UNKNOWNS = 4, HS_FIT_POINTS = 64 };

/* Finds the x >= 0 that minimises the relative errors of row[i] * x against seconds[i] > 0; returns the root mean
 * square of these errors.  Unknowns that the points do not determine are 0. */
double hs_fit_nonnegative(double (*row)[HS_FIT_UNKNOWNS], const double *seconds, int points, int unknowns,
                          double x[HS_FIT_UNKNOWNS]);

/* Fits the times of messages, in ascending order of size, by one line alpha + n beta, or by two lines if they fit
 * clearly better. */
void hs_fit_link(const double *bytes, const double *seconds, int points, struct hs_link *link);
/* Fits the times of messages by a single line alpha + n beta. */
void hs_fit_line(const double *bytes, const double *seconds, int points, struct hs_link *link);

#endif
