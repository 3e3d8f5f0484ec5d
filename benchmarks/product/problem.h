/* One product, ready to run: context, grid, descriptors, and this rank's parts of the matrices. */
#ifndef HS_BENCHMARKS_PRODUCT_PROBLEM_H
#define HS_BENCHMARKS_PRODUCT_PROBLEM_H

#include <mpi.h>
#include <stdint.h>

#include "base/scalar.h"
#include "common/arguments.h"
#include "hsumma.h"
#include "measure/machine.h"

typedef struct operand {
    int matrix;         /* MATRIX_A, MATRIX_B, MATRIX_C */
    int64_t rows, cols; /* of the submatrix that is used, as stored */
    hsumma_desc desc;
    void *local;  /* NULL if this rank owns nothing */
    size_t bytes; /* bytes of `local` */
    int shared;   /* local is memory of hsumma_malloc */
    void *host;   /* host copy if local is device memory; else NULL */
} operand;

typedef struct problem {
    const arguments *args; /* borrowed */
    MPI_Comm comm;         /* borrowed */
    int rank, ranks;
    machine mach;
    hsumma_context *ctx;
    hsumma_grid *grid;
    int borrowed;         /* ctx and grid belong to the caller */
    hsumma_grid *best[3]; /* with --best: the grids of A, B and C; NULL: `grid` for all */
    int nprow, npcol;
    int row, col;               /* this rank's coordinates in the grid; -1 outside */
    union hs_value alpha, beta; /* each one element of the type */
    union {
        struct {
            operand a, b, c;
        };
        operand x[3]; /* a, b, c as an array */
    };
} problem;

/* Describes an m x n matrix in blocks of nb x nb (0: one block per process), with the blocks, offsets and sources of
 * --layout; the caller sets ld. */
void layout_describe(hsumma_desc *desc, const hsumma_grid *grid, int64_t m, int64_t n, int64_t nb,
                     const int64_t layout[LAYOUT_FIELDS]);

/* Creates the problem and fills A, B and C; options: the library's, for the context. Collective. Returns an exit status
 * (common/command.h), the same on every rank, after rank 0 has printed an error. Always undo with problem_free. */
int problem_create(problem *p, const arguments *args, const char *options, MPI_Comm comm);
/* The same in a context and on a grid of the caller, which must outlive the problem; args->nprow and npcol are unused.
 */
int problem_create_on(problem *p, const arguments *args, hsumma_context *ctx, hsumma_grid *grid, MPI_Comm comm);
void problem_free(problem *p);

/* Makes *shared a copy of *p with some of A, B and C in memory of hsumma_malloc, which is device memory if the context
 * has a device; everything else is borrowed. Collective. Returns an exit status, after printing an error unless quiet.
 * Always undo with problem_unshare, before problem_free. */
enum { SHARE_A = 1, SHARE_B = 2, SHARE_C = 4, SHARE_ALL = 7 };
int problem_share(problem *shared, const problem *p, int which, int quiet);
void problem_unshare(problem *shared);

/* Restores C before a product: the generated matrix, or NaN if beta = 0, because it must not be read then. */
hsumma_status problem_refresh(const problem *p, void *c);
/* Sets *local to C in host memory: `c` itself or, if that is device memory, a copy that is valid until the next
 * refresh. */
hsumma_status problem_fetch(const problem *p, void *c, void **local);

/* problem_on_device: whether the context has a device. problem_settle waits for its work. */
int problem_on_device(const problem *p);
hsumma_status problem_settle(const problem *p);

/* Makes a plan of this problem, with additional options or NULL, and queries it. Collective; returns an exit status,
 * the same on all ranks, without printing. On failure there is no plan, and text has this rank's message, if any. */
int problem_plan(problem *p, const char *options, hsumma_plan **plan, hsumma_plan_info *info, char *text, size_t size);

/* 2 m n k, or 8 m n k for complex types. */
double problem_flops(const problem *p);

/* Bytes of this rank's A, B and C. */
int64_t problem_bytes(const problem *p);

#endif
