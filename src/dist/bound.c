#include "dist/bound.h"

#include <math.h>

/* Number of elements of A, B and C that one of p processes must access to do its share of the multiplications.  x >= y
 * >= z: m, n and k in descending order. */
static double touched(double x, double y, double z, double p)
{
    if (p <= x / y)
        return (x * y + x * z) / p + y * z;
    if (p * z * z <= x * y)
        return 2 * sqrt(x * y * z * z / p) + x * y / p;
    return 3 * pow(x * y * z / p, 2.0 / 3);
}

double hs_bound_elements(const int64_t extent[3], double processes, double memory)
{
    double d[3];
    for (int i = 0; i < 3; i++) { /* insertion sort, descending */
        int at = i;
        double x = (double)extent[i];
        for (; at > 0 && d[at - 1] < x; at--)
            d[at] = d[at - 1];
        d[at] = x;
    }
    if (d[2] <= 0)
        return 0;
    double held = (d[0] * d[1] + d[0] * d[2] + d[1] * d[2]) / processes;
    double least = touched(d[0], d[1], d[2], processes);
    double limited = memory > 0 ? 2 * d[0] * d[1] * d[2] / (processes * sqrt(memory)) : 0;
    return fmax(fmax(least, limited) - held, 0);
}
