/*
 * One multiplication for tests of the public interface: arguments, this process's parts of the matrices, and a
 * comparison with a direct triple loop. Entries are small integers, so results are exact, unless `fractions` is set.
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

/* The arguments of a multiplication. */
struct gemm_case {
    hsumma_type type;
    char ta, tb;
    int64_t m, n, k;
    hsumma_desc desc[3];
    double complex alpha;
    double beta;
    const char *options;
    int fractions; /* entries are fractions that use all bits, so that the order of sums shows */
};

/* This process's part of a matrix, followed by a column of guards. */
struct gemm_part {
    int64_t rows, cols;
    void *data;
    size_t bytes;
};

/* A case with whole matrices in blocks of nb x nb; nb = 0: one block per process. */
struct gemm_case gemm_case_of(const hsumma_grid *grid, hsumma_type type, char ta, char tb, int64_t m, int64_t n,
                              int64_t k, int64_t nb);

/* The layout of one dimension of an operand: it has `offset` indices of the matrix before it and `behind` after it. */
struct gemm_layout {
    int64_t block, first;
    int src;
    int64_t offset, behind;
};

void gemm_spread(struct gemm_case *call, int x, const struct gemm_layout *rows, const struct gemm_layout *cols);

/* Gives each operand its own block sizes, first blocks, sources and offsets, which follow from `seed`. */
void gemm_unalign(struct gemm_case *call, int seed);

/* Entry (i, j) of operand x, as stored. */
double complex gemm_entry(const struct gemm_case *call, int x, int64_t i, int64_t j);

/* Whether local element (r, c) belongs to the operand; sets *i and *j to its indices in the operand as stored. */
int gemm_inside(const struct gemm_case *call, int x, const struct gemm_part *local, int64_t r, int64_t c, int64_t *i,
                int64_t *j);
void gemm_make(const struct gemm_case *call, struct gemm_part local[3]);

/* The number of elements of A and B, padding included, that the library has changed. */
int64_t gemm_changed(const struct gemm_case *call, const struct gemm_part local[3]);
void gemm_drop(struct gemm_part local[3]);

/* The number of entries of C that differ from alpha op(A) op(B) + beta C (with `untouched`: from the initial values),
 * plus the number of overwritten guards. With call->fractions, rounding errors are allowed. */
int64_t gemm_wrong(const struct gemm_case *call, const struct gemm_part *local, int untouched);

/* A hash of the bits of this process's part of C. */
int64_t gemm_hash_of_c(const struct gemm_case *c, const struct gemm_part *local);

/* The info of a plan; if `plan` is NULL, zeros and empty texts. */
hsumma_plan_info plan_query(const hsumma_plan *plan);
hsumma_status gemm_plan_create(hsumma_context *ctx, const struct gemm_case *c, hsumma_plan **plan);
hsumma_status gemm_one_call(hsumma_context *ctx, const struct gemm_case *c, const struct gemm_part local[3]);

/* Starts a plan; with `wait` also completes it. The scalars that are passed do not outlive this call. */
hsumma_status gemm_begin(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3], int wait);

/* Starts a plan, tests it up to `steps` times and waits; steps = GEMM_AT_ONCE: executes the plan in one call. */
hsumma_status gemm_step_through(hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3],
                                int steps);

/* Describes the error on this process after an execution that returned `status`; NULL if there is none. */
const char *gemm_fault(const hsumma_plan *plan, const struct gemm_case *c, const struct gemm_part local[3],
                       hsumma_status status);

/* Executes a plan once with fresh matrices; describes the error on this process, or returns NULL. */
const char *gemm_execution_fault(hsumma_plan *plan, const struct gemm_case *c, int steps);
int gemm_executes(hsumma_plan *plan, const struct gemm_case *c);

/* Creates a plan and executes it `times` times from the same C; returns a hash of the bits of this process's part of C,
 * or -1 on error or if executions differ. *info, unless NULL, becomes the plan's info after the last execution. */
int64_t gemm_bits(hsumma_context *ctx, const struct gemm_case *c, int times, hsumma_plan_info *info);

/* Tests one multiplication, in one call or by a plan; returns 1 if this process's result is right. */
int gemm_multiplies(hsumma_context *ctx, const struct gemm_case *call, int by_plan);

/* Tests that plan_create refuses the request on all processes with status `wanted` and a message that contains `word`
 * and `other`. For a call without options the one-call routine must return the same status. */
void gemm_refuse(hsumma_context *ctx, const struct gemm_case *call, hsumma_status wanted, const char *what,
                 const char *word, const char *other);

/* Creates a context and a P x Q grid of all ranks, by rows; 0 x 0 selects the shape of hsumma_grid_shape. On failure
 * returns 0 and reports a failed test. */
int gemm_open(const char *options, int P, int Q, hsumma_context **ctx, hsumma_grid **grid);
void gemm_close(hsumma_context **ctx, hsumma_grid **grid);

/* Runs a test on every P x Q grid of all ranks. */
void gemm_on_each_shape(hsumma_context *ctx, void (*test)(hsumma_context *, const hsumma_grid *));

/* Tests that there is no context before MPI_Init; then initializes MPI, a context and a grid, runs the tests, and
 * returns the exit status. Program arguments replace the library's environment variables (world_begin). */
int gemm_main(int argc, char **argv, void (*tests)(hsumma_context *, const hsumma_grid *));

#endif
