/*
 * One process's matrices of a case, and the right C. Entries are computed from global indices, so the reference, a
 * triple loop, needs neither stored matrices nor communication. Everything outside sub(X) is a distinct NaN: padding
 * rows, memory before and after, the rest of the matrix.
 */
#ifndef HS_TESTS_SUPPORT_SCALAPACK_FUZZ_DATA_H
#define HS_TESTS_SUPPORT_SCALAPACK_FUZZ_DATA_H

#include "support/scalapack/fuzz_case.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_GUARD = 32 }; /* entries before and after a local matrix */

struct fuzz_local {
    int count[2];  /* local rows, columns */
    int *index[2]; /* their indices in sub(X), -1 outside */
    int ld;
    size_t entry, size; /* bytes */
    int borrowed;       /* the memory belongs to another matrix */
    char *memory, *data;
};

void fuzz_put(const struct fuzz_case *c, void *at, double re, double im);
void fuzz_get(const struct fuzz_case *c, const void *at, double value[2]);
char *fuzz_at(const struct fuzz_local *l, int row, int col);

/* Makes X, without values if it must not be read, inside `home` if that is not NULL. Returns 0 without memory. */
int fuzz_make(const struct fuzz_case *c, int x, const int me[2], const struct fuzz_local *home, struct fuzz_local *l);
void fuzz_drop(struct fuzz_local *l);

/* The right sub(C): pairs for all local rows and columns, 0 outside. NULL without memory. */
double *fuzz_reference(const struct fuzz_case *c, const struct fuzz_local *l);

/*
 * The rounding error allowed in a real or imaginary part of C: (terms + 6) u (|alpha| terms + |beta|), where `terms`
 * products of entries of modulus at most 1 are added in any order, 6 more roundings come from alpha and beta, and u is
 * half the distance from 1 to the next number. 0 for integers.
 */
double fuzz_bound(const struct fuzz_case *c);

#endif
