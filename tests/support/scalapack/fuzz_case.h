/*
 * A random case of p?gemm, determined by its seed and the number of processes.
 *
 * All cases are valid for ScaLAPACK 2.2, too. They may have sources of -1 (rows replicated in every process row, or
 * columns in every process column), first blocks larger than the others, and null pointers on processes without
 * entries.
 */
#ifndef HS_TESTS_SUPPORT_SCALAPACK_FUZZ_CASE_H
#define HS_TESTS_SUPPORT_SCALAPACK_FUZZ_CASE_H

#include "support/random.h"
#include <stdio.h>

enum { FUZZ_A, FUZZ_B, FUZZ_C, FUZZ_MOST_PROCESSES = 8 };

/* Storage of the matrices: three matrices; A and B in the same memory; or disjoint parts of one matrix as in a step of
 * the LU factorisation, with B above C and A to the left of C. */
enum fuzz_store { FUZZ_APART, FUZZ_TWINS, FUZZ_PARTS };

/* Rows or columns of a matrix; sub(X) has `length` of them, with `offset` before and `extra` after it. */
struct fuzz_side {
    int length, offset, extra;
    int first, block, source; /* IMB, MB, RSRC or INB, NB, CSRC */
};

struct fuzz_matrix {
    struct fuzz_side side[2];
    int dtype; /* 1 or 2 */
    int pad;   /* LLD minus the local rows (at least 1) */
};

struct fuzz_case {
    uint64_t seed;
    char type, trans[2];
    int extent[3]; /* m, n, k */
    double alpha[2], beta[2];
    int exact;   /* entries are small integers, so sums are exact in any order */
    int grid[2]; /* P, Q */
    char order;  /* order of the processes in the grid: R by rows; C by columns; X from the last process backwards */
    enum fuzz_store store;
    int null;                /* nonzero: a process without entries passes a null pointer */
    int twice;               /* nonzero: the call is repeated with new copies of the data */
    int fresh;               /* nonzero: a context is made for this case and freed after it */
    struct fuzz_matrix x[3]; /* A, B, C */
};

int fuzz_complex(const struct fuzz_case *c);
int fuzz_single(const struct fuzz_case *c);

/* 'N', 'T' or 'C' of A and B; C is not transposed. */
char fuzz_op(const struct fuzz_case *c, int x);
int fuzz_total(const struct fuzz_side *s);
struct fuzz_case fuzz_draw(uint64_t seed, int processes);
void fuzz_print(const struct fuzz_case *c, char *text, size_t size);

#endif
