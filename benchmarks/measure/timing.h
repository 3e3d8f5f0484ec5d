/* Medians and spreads of measurements taken in turns, and waits that leave the processor to others. */
#ifndef HS_BENCHMARKS_MEASURE_TIMING_H
#define HS_BENCHMARKS_MEASURE_TIMING_H

#include <mpi.h>

/* The distribution of values; the middle half lies between lower and upper. All NaN without values. */
typedef struct spread {
    double median, min, max, lower, upper;
} spread;

spread spread_of(const double *values, int n);

/* The spread of over[i] / under[i]: contenders are compared round by round, so a temporary slowdown of the machine
 * affects both. */
spread spread_of_ratio(const double *over, const double *under, int n);

/* The median of the faster half of the values, because other load only ever slows a measurement. Sorts the values. */
double fast_median(double *values, int n);

/* Sleeps, except in the simulator; a signal may end the sleep early. */
void sleep_seconds(double seconds);

/* A barrier whose waiters sleep for up to half a millisecond at a time, for long waits while another rank needs all
 * cores. quiet_barrier responds at once, but spins if no other process wants the core. */
void sleeping_barrier(MPI_Comm comm);

/* Whether MPI_Wtime of rank 0 is past `end`: the same on all ranks. */
int is_past(double end, MPI_Comm comm);

#endif
