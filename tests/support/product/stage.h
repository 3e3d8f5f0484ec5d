/*
 * A context, a grid of all its ranks, a plan and its matrices, and a collective call of each kind on them: for tests of
 * processes that end during a call.
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_STAGE_H
#define HS_TESTS_SUPPORT_PRODUCT_STAGE_H

#include "support/product/gemm_case.h"

struct call_stage {
    MPI_Comm comm;
    hsumma_context *ctx;
    hsumma_grid *grid;
    hsumma_plan *plan;
    hsumma_desc desc;
    struct gemm_case c;
    struct gemm_part local[3];
    char text[600]; /* the message of hsumma_create, if it has failed */
};

/* Creates all of it over a communicator of `size` ranks (support/world.h). After an error, stage_close frees the rest.
 */
hsumma_status stage_open(struct call_stage *stage, MPI_Comm comm);
void stage_close(struct call_stage *stage);

/* A kind of collective call: multiply, test, sum, testsum, grid, plan, malloc, redistribute or create. */
struct stage_call {
    const char *name;
    hsumma_status (*run)(struct call_stage *stage);
};

hsumma_status stage_multiply(struct call_stage *stage);
hsumma_status stage_make_grid(struct call_stage *stage);

/* NULL if there is none of this name. */
const struct stage_call *stage_call_named(const char *name);

#endif
