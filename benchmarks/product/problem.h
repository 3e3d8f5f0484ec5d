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
    int64_t rows, cols; /* the part of the matrix that is used, as stored */
    hsumma_desc desc;
    void *local;  /* NULL where this rank owns nothing */
    size_t bytes; /* of local */
    int shared;   /* local is of hsumma_malloc, */
    void *host;   /* and where that is a device's: memory of the host for the same; else NULL */
} operand;

typedef struct problem {
    const arguments *args; /* borrowed */
    MPI_Comm comm;         /* borrowed */
    int rank, ranks;
    machine mach;
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_grid *best[3]; /* of A, B and C, with --best; NULL: all on grid */
    int nprow, npcol;
    int row, col;               /* of this rank in the grid; -1 outside */
    union hs_value alpha, beta; /* one element of the type each */
    union {
        struct {
            operand a, b, c;
        };
        operand x[3]; /* these three */
    };
} problem;

/* Blocks, offsets and sources of a matrix as --layout has them. */
void layout_apply(hsumma_desc *desc, const int64_t layout[LAYOUT_FIELDS]);

/* Makes everything and fills A, B and C; options are the library's, for the context. Collective. Returns an exit status
 * of command.h, the same on every rank, after rank 0 has printed what was wrong. problem_free undoes it, always. */
int problem_create(problem *p, const arguments *args, const char *options, MPI_Comm comm);
void problem_free(problem *p);

/* The same problem with some of A, B and C copied into memory of hsumma_malloc, which is the device's if the context
 * has one; everything else is borrowed. Collective. Returns an exit status, after printing what was wrong, unless
 * quiet; undo with problem_unshare before problem_free, in any case. */
enum { SHARE_A = 1, SHARE_B = 2, SHARE_C = 4, SHARE_ALL = 7 };
int problem_share(problem *shared, const problem *p, int which, int quiet);
void problem_unshare(problem *shared);

/* C as it is before the product: the generated matrix, or NaN where beta = 0, because it must not be read then. */
hsumma_status problem_refresh(const problem *p, void *c);
/* *local: C where this process can read and write it, complete: `c` itself, or a copy that lasts until the next
 * refresh.
 */
hsumma_status problem_fetch(const problem *p, void *c, void **local);

/* Whether the context has a device; waits for the work on it. */
int problem_on_device(const problem *p);
hsumma_status problem_settle(const problem *p);

/* A plan of this problem, and what it says of itself. Agrees on the outcome: returns an exit status, nothing printed;
 * if it failed on any rank there is no plan, and the message of this rank, if it has one, is in text. */
int problem_plan(problem *p, const char *options, hsumma_plan **plan, hsumma_plan_info *info, char *text, size_t size);

/* 2 m n k, or 8 m n k for complex types. */
double problem_flops(const problem *p);

/* Bytes of this rank's A, B and C. */
int64_t problem_bytes(const problem *p);

#endif
