/*
 * One multiplication for the tests of the public interface: its arguments, this process's parts of the matrices, and a
 * comparison with a direct triple loop.  Entries are small integers, so that every result is exact.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_CASE_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_CASE_H

#include "base/wait.h"
#include "hsumma/plan/plan.h"
#include "support/entry.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/world.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GEMM_PAD = 2, GEMM_GUARD = 77, PATIENCE_S = 10, GEMM_AT_ONCE = -1 };

/* One multiplication: its arguments, and this process's parts of the matrices. */
struct gemm_case {
    hsumma_type type;
    char ta, tb;
    int64_t m, n, k;
    hsumma_desc desc[3];
    double complex alpha;
    double beta;
    const char *options;
    int fractions; /* entries with all bits in use, which show the order of the sums, instead of small integers */
};

/* With a column of guards after the last one. */
struct gemm_part {
    int64_t rows, cols;
    void *data;
    size_t bytes;
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

/* An entry of an operand, as it is stored. */
double complex gemm_entry(const struct gemm_case *call, int x, int64_t i, int64_t j);

/* Whether the local element belongs to the operand, and which of its entries it is (as stored). */
int gemm_inside(const struct gemm_case *call, int x, const struct gemm_part *local, int64_t r, int64_t c, int64_t *i,
                int64_t *j);
void gemm_make(const struct gemm_case *call, struct gemm_part local[3]);

/* Elements of A and B, padding and all, that are not what they were. */
int64_t gemm_changed(const struct gemm_case *call, const struct gemm_part local[3]);
void gemm_drop(struct gemm_part local[3]);

/* Entries of C that are not alpha op(A) op(B) + beta C (or, with `untouched`, not as they were), and lost guards.
 * Fractions may be rounded. */
int64_t gemm_wrong(const struct gemm_case *call, const struct gemm_part *local, int untouched);

/* The bits of this process's part of C. */
int64_t gemm_hash_of_c(const struct gemm_case *c, const struct gemm_part *local);

/* What a plan says of itself; of none nothing. */
hsumma_plan_info plan_query(const hsumma_plan *plan);
hsumma_status gemm_plan_create(hsumma_context *ctx, const struct gemm_case *c, hsumma_plan **plan);
hsumma_status gemm_one_call(hsumma_context *ctx, const struct gemm_case *c, const struct gemm_part local[3]);

/* For plans: start, or start and wait.  The scalars are copied by start. */
hsumma_status gemm_begin(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3], int wait);

/* Started, tested so many times and waited for; GEMM_AT_ONCE: executed by one call. */
hsumma_status gemm_step_through(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3],
                                int steps);

/* What is wrong on this process after an execution that has returned `status`, or NULL. */
const char *gemm_fault(const hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3],
                       hsumma_status status);

/* One execution from fresh matrices, and what was wrong with it on this process, or NULL. */
const char *gemm_execution_fault(hsumma_plan *plan, const struct gemm_case *c, int steps);
int gemm_executes(hsumma_plan *plan, const struct gemm_case *c);

/* A plan that is executed so many times, always from the same C: the bits of this process's part of C.  -1: there was
 * an error, or they are not the same each time.  info: the numbers of the plan after that, or NULL. */
int64_t gemm_bits(hsumma_context *ctx, const struct gemm_case *c, int times, hsumma_plan_info *info);

/* A whole multiplication, in one call or by a plan: 1 if this process has the right result. */
int gemm_multiplies(hsumma_context *ctx, const struct gemm_case *call, int by_plan);

/* A request that must be refused alike everywhere, by plan_create and in one call, in these words. */
void gemm_refuse(hsumma_context *ctx, const struct gemm_case *call, hsumma_status wanted, const char *what,
                 const char *word, const char *other);

/* A context and a grid P x Q of all ranks, by rows; 0 x 0: of the shape that hsumma_grid_shape gives.  0: they cannot
 * be had, which is a failed test. */
int gemm_open(const char *options, int P, int Q, hsumma_context **ctx, hsumma_grid **grid);
void gemm_close(hsumma_context **ctx, hsumma_grid **grid);

/* A test on grids of all ranks, of every shape that has them all. */
void gemm_on_each_shape(hsumma_context *ctx, void (*test)(hsumma_context *, const hsumma_grid *));

/* Sets up ranks, a context and a grid, runs the tests, and returns the program's exit code.  An argument OPTION=WORD is
 * put into the environment, in place of what was there of options: node=WORD is HSUMMA_NODE=WORD. */
int gemm_main(int argc, char **argv, void (*tests)(hsumma_context *, const hsumma_grid *));

#endif
