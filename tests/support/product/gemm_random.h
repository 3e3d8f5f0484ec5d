/*
 * Random layouts for tests: a seeded generator of multiplications whose operands have different blocks, first blocks,
 * sources, replicas and offsets. The owners of their elements are computed index by index.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_RANDOM_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_RANDOM_H

#include "support/product/gemm_case.h"

enum { GEMM_AUTO = 3 }; /* the library chooses the stationary operand; smaller values are indices in gemm_stays */

extern const char gemm_stays[];
int gemm_extent_of(const struct gemm_case *c, int axis);
int gemm_replicated(const struct gemm_case *c, int x);

/* Whether operand x can be stationary: C always; A or B if neither it nor C is replicated. */
int gemm_can_stay(const struct gemm_case *c, int x);

int gemm_is_possible(const struct gemm_case *c, int stationary);

/* Describes the error in the result of plan_create for this stationary operand, or returns NULL. */
const char *gemm_wrong_verdict(hsumma_context *ctx, const struct gemm_case *c, int stationary, hsumma_status status);

/* Draws type, extents and scalars; `ops` from 0 to 8 selects one of the 9 pairs of transpositions. */
struct gemm_case gemm_draw_product(const hsumma_grid *grid, int ops, int64_t nb);

/* Draws a layout for each operand; some of m, n and k get the same layout in both operands that have them. */
void gemm_draw_layouts(struct gemm_case *c);

/* Draws options for the product over messages: a hierarchy of one to three levels that divides the grid, and
 * algorithms. Some options are left to the library. */
void gemm_draw_hierarchy(const struct gemm_case *c, int stationary, char *text, size_t room);
struct gemm_case gemm_draw_case(const hsumma_grid *grid, int stationary, char *options, size_t room);

/* Creates a grid of some ranks, rotated and perhaps reversed; NULL on failure. _of: of this shape. */
hsumma_grid *gemm_draw_grid(hsumma_context *ctx);
hsumma_grid *gemm_draw_grid_of(hsumma_context *ctx, int P, int Q);

/* Plans a case and executes it twice, step by step or in one call; returns NULL, or the error on this rank. With
 * `limited` the most workspace must be within the limit. */
const char *gemm_failure(hsumma_context *ctx, const struct gemm_case *c, int limited);

/* Prints a case on rank `who`. */
void gemm_report(int who, const struct gemm_case *c, int64_t number, const char *what);

/* The exchange of a moving operand: the elements that must move to another process before the broadcast or after the
 * sum. Here and in gemm_aligned, `stationary` is an operand (0: A, 1: B, 2: C), not an index in gemm_stays. */
struct gemm_misplaced {
    int differs; /* nonzero: the layouts assign some index to different processes */
    int known;   /* 0: the two operands have the pinned dimension on different grid axes, and nothing is counted */
    int64_t most, all; /* bytes: most: sent and received by the busiest process; all: sent by all processes */
    int line;          /* number of processes in a broadcast or sum of the operand */
};

struct gemm_misplaced gemm_count_misplaced(const struct gemm_case *c, int x, int stationary);

/* A copy of the case in which each moving operand has the stationary one's layout on their common axis. *misplaced
 * becomes the bytes of the exchanges that this saves, *differs 1 if any owner differs. */
struct gemm_case gemm_aligned(const struct gemm_case *c, int stationary, int64_t *misplaced, int *differs);

#endif
