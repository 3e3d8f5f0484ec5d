/* Products on imagined grids, for tests of predictions and choices. */
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
    int src[3];          /* the process of the first block, along both axes */
};

struct model_product model_product_square(int64_t n, int q);

/* Views have no data, so a problem may be copied; variants and pairs point into the problem. */
struct hs_problem model_problem(const struct model_product *product);

/* The price of a spec; NaN if it has none. nodes: NULL: each process has its own node, or with profile->one_node all
 * share one. workspace: bytes; may be NULL. */
struct hs_prediction model_price(const struct hs_problem *problem, const struct hs_spec *spec,
                                 const struct hs_profile *profile, const struct hs_topology *nodes, int64_t *workspace);

/* How a product is done; defaults: SUMMA by binomial trees without lookahead. */
struct model_how {
    int stationary, levels; /* number of outer levels: 0 or 1 */
    int groups[2];
    int64_t outer, block;
    const char *bcast;
    int lookahead, spread;
    int64_t turn; /* 0: everything that a pair of owners has */
    int owners;   /* as in hs_spec */
};

/* The spec; it has 0 levels if the groups do not divide the grid. */
struct hs_spec model_spec(const struct model_product *product, const struct model_how *how);

struct hs_prediction model_predict(const struct model_product *product, const struct model_how *how,
                                   const struct hs_profile *profile, const struct hs_topology *nodes);

#endif
