#include "support/product/ordered_entry.h"

#include <math.h>

/* a b + c with one rounding, and a b, in the precision of `type`. */
static double add(hsumma_type type, double a, double b, double c)
{
    return type == HSUMMA_S || type == HSUMMA_C ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static double times(hsumma_type type, double a, double b)
{
    return type == HSUMMA_S || type == HSUMMA_C ? (double)((float)a * (float)b) : a * b;
}

static double complex scaled(hsumma_type type, double complex alpha, double complex b)
{
    if (alpha == 1)
        return b;
    if (type < HSUMMA_C)
        return times(type, creal(alpha), creal(b));
    return CMPLX(add(type, creal(alpha), creal(b), -times(type, cimag(alpha), cimag(b))),
                 add(type, creal(alpha), cimag(b), times(type, cimag(alpha), creal(b))));
}

double complex ordered_entry(hsumma_type type, int64_t k, double complex alpha, const double complex *a,
                             const double complex *b, double beta, double complex c)
{
    double re = beta == 0 ? 0 : times(type, beta, creal(c)), im = beta == 0 ? 0 : times(type, beta, cimag(c));
    if (beta != 1) { /* -0 becomes 0 */
        re += 0.0;
        im += 0.0;
    }
    for (int64_t l = 0; l < k && alpha != 0; l++) {
        double complex right = scaled(type, alpha, b[l]);
        re = add(type, creal(a[l]), creal(right), re);
        if (type < HSUMMA_C)
            continue;
        re = add(type, -cimag(a[l]), cimag(right), re);
        im = add(type, cimag(a[l]), creal(right), im);
        im = add(type, creal(a[l]), cimag(right), im);
    }
    return CMPLX(re, im);
}
