/* The check of a redistribution. */
#ifndef HS_BENCHMARKS_CHECK_MOVED_H
#define HS_BENCHMARKS_CHECK_MOVED_H

#include <stdint.h>

#include "hsumma.h"

/*
 * Counts the wrong entries of this rank's part of B, after an m x n part of A was moved there by hsumma_redistribute: A
 * was the generated matrix MATRIX_A, and B held NaN, which must be unchanged outside the moved part. local: this rank's
 * part of B, or NULL. Local.
 */
int64_t check_moved(hsumma_type type, uint64_t seed, int64_t m, int64_t n, const hsumma_desc *a, const hsumma_desc *b,
                    const void *local);

#endif
