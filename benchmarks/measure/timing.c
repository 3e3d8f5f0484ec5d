/* Medians, spreads, sleeping. */
#include "measure/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/command.h"
#include "measure/simulated.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The quantile of sorted values at `fraction`, interpolated. */
static double at(const double *value, int n, double fraction)
{
    double place = fraction * (n - 1);
    int i = (int)place;

    return i + 1 < n ? value[i] + (place - i) * (value[i + 1] - value[i]) : value[n - 1];
}

/* The spread of an array, which is sorted in place. */
static spread spread_sort(double *values, int n)
{
    if (n < 1)
        return (spread){NAN, NAN, NAN, NAN, NAN};
    qsort(values, (size_t)n, sizeof *values, compare);
    return (spread){at(values, n, 0.5), values[0], values[n - 1], at(values, n, 0.25), at(values, n, 0.75)};
}

spread spread_of_ratio(const double *over, const double *under, int n)
{
    double *values = malloc((size_t)(n > 0 ? n : 1) * sizeof *values);
    spread s;

    for (int i = 0; i < n && values; i++)
        values[i] = under ? over[i] / under[i] : over[i];
    s = spread_sort(values, values ? n : 0);
    free(values);
    return s;
}

spread spread_of(const double *values, int n)
{
    return spread_of_ratio(values, NULL, n);
}

double fast_median(double *values, int n)
{
    spread_sort(values, n);
    return spread_sort(values, (n + 1) / 2).median;
}

void sleep_seconds(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};

    if (!is_simulated())
        nanosleep(&t, NULL);
}

void sleeping_barrier(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;

    if (is_simulated()) {
        quiet_barrier(comm);
        return;
    }
    MPI_Ibarrier(comm, &request);
    for (double pause = 20e-6; MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;) {
        sleep_seconds(pause);
        if (pause < 500e-6)
            pause *= 1.5;
    }
}

int is_past(double end, MPI_Comm comm)
{
    int past = MPI_Wtime() > end;

    quiet_bcast(&past, 1, MPI_INT, 0, comm);
    return past;
}
