/* One element of C as bits=anywhere defines it, with its own arithmetic. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_ORDERED_ENTRY_H
#define HS_TESTS_SUPPORT_PRODUCT_ORDERED_ENTRY_H

#include "hsumma.h"

#include <complex.h>
#include <stdint.h>

/* The element beta c + sum over l < k of a[l] (alpha b[l]), summed in ascending order with fused multiply-adds in the
 * precision of `type`. */
double complex ordered_entry(hsumma_type type, int64_t k, double complex alpha, const double complex *a,
                             const double complex *b, double beta, double complex c);

#endif
