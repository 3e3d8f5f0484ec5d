/*
 * One process's parts of the matrices of a case, and the right C. Entries are computed from global indices, so the
 * reference, a triple loop, needs neither stored matrices nor communication. Everything outside sub(X) is a distinct
 * NaN: padding rows, memory before and after the local matrix, the other entries of the matrix.
 */
#ifndef HS_TESTS_SUPPORT_SCALAPACK_FUZZ_DATA_H
#define HS_TESTS_SUPPORT_SCALAPACK_FUZZ_DATA_H

#include "support/scalapack/fuzz_case.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_GUARD = 32 }; /* number of guard entries before, and after, a local matrix */

struct fuzz_local {
    int count[2];  /* number of local rows and columns */
    int *index[2]; /* for each local row and column its index in sub(X), -1 outside */
    int ld;
    size_t entry, size; /* bytes of an entry, and of the allocation */
    int borrowed;       /* nonzero: the memory belongs to another matrix */
    char *memory, *data;
};

void fuzz_put(const struct fuzz_case *c, void *at, double re, double im);
void fuzz_get(const struct fuzz_case *c, const void *at, double value[2]);
char *fuzz_at(const struct fuzz_local *l, int row, int col);

/* Makes this process's part of X at grid coordinates `me`, with NaNs if it must not be read. `home`, unless NULL, is
 * the matrix of which X is a part. Returns 0 if memory is exhausted. */
int fuzz_make(const struct fuzz_case *c, int x, const int me[2], const struct fuzz_local *home, struct fuzz_local *l);
void fuzz_drop(struct fuzz_local *l);

/* The right local part of C: a pair (re, im) for each local entry, 0 outside sub(C). NULL if memory is exhausted. */
double *fuzz_reference(const struct fuzz_case *c, const struct fuzz_local *l);

/*
 * The rounding error allowed in a real or imaginary part of C: (terms + 6) u (|alpha| terms + |beta|), where |z| is
 * |re z| + |im z|. `terms`, k or for complex types 2k, is the number of real products; these are added in any order,
 * and their factors are at most 1. alpha and beta cause 6 more roundings; u is half the distance from 1 to the next
 * number. The bound is 0 for cases with `exact`.
 */
double fuzz_bound(const struct fuzz_case *c);

#endif
