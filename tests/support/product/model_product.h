/* Products on grids that are not there, for tests of what is predicted and chosen. */
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
    int64_t block[3][2]; /* of A, B and C by rows and columns; 0: one block for each process */
    int src[3];          /* the process of the first block, along both axes */
};

struct model_product model_product_square(int64_t n, int q);

/* Views point into nothing, so a problem may be copied; variants and pairs point into the problem. */
struct hs_problem model_problem(const struct model_product *product);

/* What a spec costs; not a number if that cannot be said.  nodes: NULL: each process on a node of its own, or with
 * profile->one_node all on one.  workspace: bytes; may be NULL. */
struct hs_prediction model_price(const struct hs_problem *problem, const struct hs_spec *spec,
                                 const struct hs_profile *profile, const struct hs_topology *nodes, int64_t *workspace);

/* How a product is to be done; what is not said is SUMMA by binomial trees without lookahead. */
struct model_how {
    int stationary, levels; /* outer ones: 0 or 1 */
    int groups[2];
    int64_t outer, block;
    const char *bcast;
    int lookahead, spread;
    int64_t turn; /* 0: all that a pair of owners has */
    int owners;   /* hs_spec */
};

/* 0 levels in it if they do not divide the grid. */
struct hs_spec model_spec(const struct model_product *product, const struct model_how *how);

struct hs_prediction model_predict(const struct model_product *product, const struct model_how *how,
                                   const struct hs_profile *profile, const struct hs_topology *nodes);

#endif
