/* Medians and spreads of measurements taken in turns, and waiting that leaves the processor to others. */
#ifndef HS_BENCHMARKS_MEASURE_TIMING_H
#define HS_BENCHMARKS_MEASURE_TIMING_H

#include <mpi.h>

/* Where the values lie, the middle half from lower to upper; all NaN when there are none. */
typedef struct spread {
    double median, min, max, lower, upper;
} spread;

spread spread_of(const double *values, int n);

/* The spread of over[i] / under[i]: contenders that took turns are compared round by round, so that a machine that
 * slows down for a while slows both. */
spread spread_of_ratio(const double *over, const double *under, int n);

/* The median of the faster half, which comes first then: what others do on a machine only ever makes it slower. */
double fast_median(double *values, int n);

/* Sleeps; a signal may end it early. */
void sleep_seconds(double seconds);

/* A barrier whose waiters sleep for up to half a millisecond at a time: for long waits beside somebody who needs all
 * the cores (quiet_barrier answers at once, but spins where nobody else wants the core). */
void sleeping_barrier(MPI_Comm comm);

/* Whether MPI_Wtime of rank 0 is past `end`: the same on all ranks. */
int is_past(double end, MPI_Comm comm);

#endif
