/*
 * One multiplication for the tests of the public interface: its arguments, this process's parts of the matrices, and a
 * comparison with a direct triple loop.  Entries are small integers, so that every result is exact.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_CASE_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_CASE_H

#include "base/wait.h"
#include "hsumma/context/context.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/world.h"
#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GEMM_PAD = 2, GEMM_GUARD = 77, PATIENCE_S = 10 };

/* One multiplication: its arguments, and this process's parts of the matrices. */
struct gemm_case {
    hsumma_type type;
    char ta, tb;
    int64_t m, n, k;
    hsumma_desc desc[3];
    double alpha, beta;
    const char *options;
    int fractions; /* entries with all bits in use, which show the order of the sums, instead of small integers */
};

struct gemm_part {
    int64_t rows, cols;
    void *data;
};

/* nb = 0: checkerboard. */
struct gemm_case gemm_case_of(const hsumma_grid *grid, hsumma_type type, char ta, char tb, int64_t m, int64_t n,
                              int64_t k, int64_t nb);

/* How one dimension of an operand is spread: it begins at `offset` of a matrix with `behind` more of it after its end.
 */
struct gemm_layout {
    int64_t block, first;
    int src;
    int64_t offset, behind;
};

void gemm_spread(struct gemm_case *call, int x, const struct gemm_layout *rows, const struct gemm_layout *cols);

/* Other blocks, first blocks, sources and offsets for each operand; `seed` varies them. */
void gemm_unalign(struct gemm_case *call, int seed);
size_t gemm_element_size(hsumma_type type);
void gemm_store(hsumma_type type, void *at, int64_t index, double complex v);
double complex gemm_load(hsumma_type type, const void *at, int64_t index);

/* Whether the local element belongs to the operand, and which of its entries it is (as stored). */
int gemm_inside(const struct gemm_case *call, int x, const struct gemm_part *local, int64_t r, int64_t c, int64_t *i,
                int64_t *j);
void gemm_make(const struct gemm_case *call, struct gemm_part local[3]);

/* Elements of A and B, padding and all, that are not what they were. */
int64_t gemm_changed(const struct gemm_case *call, const struct gemm_part local[3]);
void gemm_drop(struct gemm_part local[3]);

/* Entries of C that are not alpha op(A) op(B) + beta C (or, with `untouched`, not as they were), and lost guards. */
int64_t gemm_wrong(const struct gemm_case *call, const struct gemm_part *local, int untouched);

/* The bits of this process's part of C. */
int64_t gemm_hash_of_c(const struct gemm_case *c, const struct gemm_part *local);
hsumma_status gemm_plan_create(hsumma_context *ctx, const struct gemm_case *c, hsumma_plan **plan);
hsumma_status gemm_one_call(hsumma_context *ctx, const struct gemm_case *c, const struct gemm_part local[3]);

/* For plans: start, or start and wait.  The scalars are copied by start. */
hsumma_status gemm_begin(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3], int wait);

/* A whole multiplication, in one call or by a plan: 1 if this process has the right result. */
int gemm_multiplies(hsumma_context *ctx, const struct gemm_case *call, int by_plan);

/* A request that must be refused alike everywhere, by plan_create and in one call, in these words. */
void gemm_refuse(hsumma_context *ctx, const struct gemm_case *call, hsumma_status wanted, const char *what,
                 const char *word, const char *other);

/* Sets up ranks, a context and a grid, runs the tests, and returns the program's exit code.  An argument OPTION=WORD is
 * put into the environment, in place of what was there of options: node=WORD is HSUMMA_NODE=WORD. */
int gemm_main(int argc, char **argv, void (*tests)(hsumma_context *, const hsumma_grid *));

#endif
