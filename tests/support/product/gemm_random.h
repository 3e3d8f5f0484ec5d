/*
 * Random layouts for tests: a seeded generator of multiplications whose operands have different blocks, first blocks,
 * sources, replicas and offsets, and the owners of their elements, computed index by index.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_RANDOM_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_RANDOM_H

#include "support/product/gemm_case.h"
#include "support/random.h"

enum { GEMM_AUTO = 3 }; /* other values index gemm_stays */

extern const char gemm_stays[];
int gemm_extent_of(const struct gemm_case *c, int axis);
int gemm_replicated(const struct gemm_case *c, int x);

/* Whether x can be stationary: C always, A and B if nothing is summed or stored twice. */
int gemm_can_stay(const struct gemm_case *c, int x);

int gemm_is_possible(const struct gemm_case *c, int stationary);

/* What is wrong with the result of plan_create for this stationary operand, or NULL. */
const char *gemm_wrong_verdict(hsumma_context *ctx, const struct gemm_case *c, int stationary, hsumma_status status);

/* Draws type, extents and scalars; ops from 0 to 8 selects a pair of transpositions. */
struct gemm_case gemm_draw_product(const hsumma_grid *grid, int ops, int64_t nb);

/* Draws a layout for each operand; some dimensions get the same layout in both of their operands. */
void gemm_draw_layouts(struct gemm_case *c);

/* Draws options for messages: a hierarchy of one to three levels that divides the grid, and algorithms; some are left
 * to the library. */
void gemm_draw_hierarchy(const struct gemm_case *c, int stationary, char *text, size_t room);
struct gemm_case gemm_draw_case(const hsumma_grid *grid, int stationary, char *options, size_t room);

/* A grid of some ranks, in some order. */
hsumma_grid *gemm_draw_grid(hsumma_context *ctx);

/* Prints a case on rank `who`. */
void gemm_report(int who, const struct gemm_case *c, int64_t number, const char *what);

/* Elements of a moving operand that must change process before they are broadcast, or after they are summed: the most
 * that one process sends and receives, and the total; both axes together. */
struct gemm_misplaced {
    int differs; /* some index has different owners */
    int known;   /* it lies on the axis where the stationary operand has it; otherwise the exchange crosses the grid */
    int64_t most, all;
    int line; /* number of processes in its broadcast or sum */
};

struct gemm_misplaced gemm_count_misplaced(const struct gemm_case *c, int x, int stationary);

/* The same multiplication with each moving operand laid out like the stationary one on their common axis; the number of
 * elements that the original layout must therefore send, and whether any owner differs. */
struct gemm_case gemm_aligned(const struct gemm_case *c, int stationary, int64_t *misplaced, int *differs);

#endif
