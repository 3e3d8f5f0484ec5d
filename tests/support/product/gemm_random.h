/*
 * Layouts for the tests: a seeded generator of multiplications whose operands have blocks, first blocks, sources,
 * replicas and offsets of their own, and who has what, written out index by index.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_RANDOM_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_RANDOM_H

#include "support/product/gemm_case.h"
#include "support/random.h"

enum { GEMM_AUTO = 3 }; /* else an index of stays */

extern const char gemm_stays[];
int gemm_extent_of(const struct gemm_case *c, int axis);
int gemm_replicated(const struct gemm_case *c, int x);

/* C can always stay; A and B where nothing is summed or stored twice. */
int gemm_can_stay(const struct gemm_case *c, int x);

int gemm_is_possible(const struct gemm_case *c, int stationary);

/* What is wrong with what plan_create has returned for a case with this stationary operand, or NULL. */
const char *gemm_wrong_verdict(hsumma_context *ctx, const struct gemm_case *c, int stationary, hsumma_status status);

/* Type, extents and scalars; ops from 0 to 8: all pairs of transpositions. */
struct gemm_case gemm_draw_product(const hsumma_grid *grid, int ops, int64_t nb);

/* Every operand its own layout; some dimensions are spread alike in both operands that have them. */
void gemm_draw_layouts(struct gemm_case *c);

/* Words for messages: a hierarchy of one to three levels that divides the grid, and algorithms; some left to the
 * library. */
void gemm_draw_hierarchy(const struct gemm_case *c, int stationary, char *text, size_t room);
struct gemm_case gemm_draw_case(const hsumma_grid *grid, int stationary, char *options, size_t room);

/* A grid of some of the ranks, in some order. */
hsumma_grid *gemm_draw_grid(hsumma_context *ctx);

/* Rank `who` prints a case. */
void gemm_report(int who, const struct gemm_case *c, int64_t number, const char *what);

/* Elements of a moving operand of a plan, that have to go from a process to another before they are broadcast, or after
 * they are summed: what one process sends and receives of them at most, and all together; both axes the same. */
struct gemm_misplaced {
    int differs; /* some index has other owners */
    int known;   /* it lies on the same axis as in the stationary operand: else the exchange goes across the grid */
    int64_t most, all;
    int line; /* processes along which it is broadcast or summed */
};

struct gemm_misplaced gemm_count_misplaced(const struct gemm_case *c, int x, int stationary);

/* The same multiplication with each operand that moves spread as the stationary one on the axis that they share; what
 * has to be sent for the want of that, and whether any owners differ. */
struct gemm_case gemm_aligned(const struct gemm_case *c, int stationary, int64_t *misplaced, int *differs);

#endif
