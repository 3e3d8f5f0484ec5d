/* Products on imagined grids, for tests of predictions and plan choices. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_MODEL_PRODUCT_H
#define HS_TESTS_SUPPORT_PRODUCT_MODEL_PRODUCT_H

#include "hsumma/cost/predict.h"
#include <math.h>
#include <string.h>

enum { RANKS = 16384 };

struct model_product {
    int type; /* hsumma_type */
    char op[3];
    int extent[2], coord[2];
    int64_t size[3];     /* m, n, k */
    int64_t block[3][2]; /* of A, B and C, by rows and columns; 0: one block per process */
    int src[3];          /* for each operand the process, along both axes, that owns the first block */
};

struct model_product model_product_square(int64_t n, int q);

/* A problem without data. Variants and pairs point into the problem from which they are made, so the problem must stay
 * at its address while they are used. */
struct hs_problem model_problem(const struct model_product *product);

/* The price of a spec; NaN if it cannot be executed. nodes = NULL: each process has its own node, or all share one if
 * profile->one_node is set. *workspace, unless NULL, becomes the workspace in bytes. */
struct hs_prediction model_price(const struct hs_problem *problem, const struct hs_spec *spec,
                                 const struct hs_profile *profile, const struct hs_topology *nodes, int64_t *workspace);

/* The choices of a spec. Fields left 0 mean SUMMA with stationary A, binomial trees and no lookahead; `block` must be
 * set. */
struct model_how {
    int stationary, levels; /* number of outer levels: 0 or 1 */
    int groups[2];
    int64_t outer, block;
    const char *bcast;
    int64_t segment, slice; /* 0: of a MiB; not sliced */
    int lookahead, spread;
    int64_t turn; /* indices in a turn; 0: all indices that a pair of owners has */
    int owners;   /* number of owners in a batch, as in hs_spec */
};

/* The spec for these choices; it has 0 levels if the groups do not divide the grid. */
struct hs_spec model_spec(const struct model_product *product, const struct model_how *how);

/* Whether two prices are equal up to rounding. */
int model_near(double is, double want);

struct hs_prediction model_predict(const struct model_product *product, const struct model_how *how,
                                   const struct hs_profile *profile, const struct hs_topology *nodes);

#endif
