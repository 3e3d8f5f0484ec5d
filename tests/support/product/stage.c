#include "support/product/stage.h"

#include <hsumma_coll.h>

hsumma_status stage_open(struct call_stage *stage, MPI_Comm comm)
{
    *stage = (struct call_stage){.comm = comm};
    hsumma_status status = hsumma_create(comm, NULL, &stage->ctx, stage->text, sizeof stage->text);
    if (!status)
        status = hsumma_grid_create(stage->ctx, 1, size, 'R', NULL, &stage->grid);
    if (status)
        return status;
    hsumma_desc_init(&stage->desc, stage->grid, 20, 20, 4, 4);
    stage->c = gemm_case_of(stage->grid, HSUMMA_D, 'N', 'N', 20, 20, 20, 4);
    gemm_make(&stage->c, stage->local);
    return gemm_plan_create(stage->ctx, &stage->c, &stage->plan);
}

void stage_close(struct call_stage *stage)
{
    hsumma_plan_free(&stage->plan);
    hsumma_grid_free(&stage->grid);
    hsumma_free(&stage->ctx);
}

hsumma_status stage_multiply(struct call_stage *stage)
{
    return gemm_begin(stage->plan, &stage->c, stage->local, 1);
}

/* Polls until the product is complete. */
static hsumma_status test_product(struct call_stage *stage)
{
    hsumma_status status = gemm_begin(stage->plan, &stage->c, stage->local, 0);
    for (int done = 0; !status && !done;)
        status = hsumma_plan_test(stage->plan, &done);
    return status;
}

static hsumma_status add_up(struct call_stage *stage)
{
    double in[100] = {1}, out[100] = {0};
    return hsumma_allreduce(stage->ctx, in, out, 100, HSUMMA_DOUBLE, HSUMMA_SUM);
}

static hsumma_status test_sum(struct call_stage *stage)
{
    double in[100] = {1}, out[100] = {0};
    hsumma_request *request = NULL;
    const hsumma_coll call = {.collective = HSUMMA_ALLREDUCE,
                              .in = in,
                              .out = out,
                              .count = 100,
                              .op = {.op = HSUMMA_SUM, .element = HSUMMA_DOUBLE}};
    hsumma_status status = hsumma_coll_start(stage->ctx, &call, &request);
    for (int done = 0; !status && !done;)
        status = hsumma_coll_test(request, &done);
    hsumma_coll_wait(&request);
    return status;
}

hsumma_status stage_make_grid(struct call_stage *stage)
{
    hsumma_grid *grid = NULL;
    hsumma_status status = hsumma_grid_create(stage->ctx, 1, size, 'R', NULL, &grid);
    hsumma_grid_free(&grid);
    return status;
}

static hsumma_status make_plan(struct call_stage *stage)
{
    hsumma_plan *plan = NULL;
    hsumma_status status = hsumma_plan_create(stage->ctx, HSUMMA_D, 'N', 'N', 20, 20, 20, &stage->desc, &stage->desc,
                                              &stage->desc, NULL, &plan);
    hsumma_plan_free(&plan);
    return status;
}

static hsumma_status allocate(struct call_stage *stage)
{
    void *memory = NULL;
    hsumma_status status = hsumma_malloc(stage->ctx, 1000, &memory);
    hsumma_mfree(stage->ctx, memory);
    return status;
}

static hsumma_status move(struct call_stage *stage)
{
    static double a[400], b[400];
    return hsumma_redistribute(stage->ctx, HSUMMA_D, 20, 20, a, &stage->desc, b, &stage->desc);
}

/* A second context over the communicator. */
static hsumma_status create(struct call_stage *stage)
{
    hsumma_context *ctx = NULL;
    hsumma_status status = hsumma_create(stage->comm, NULL, &ctx, stage->text, sizeof stage->text);
    hsumma_free(&ctx);
    return status;
}

static const struct stage_call stage_calls[] = {
    {"multiply", stage_multiply}, {"test", test_product},    {"sum", add_up},
    {"testsum", test_sum},        {"grid", stage_make_grid}, {"plan", make_plan},
    {"malloc", allocate},         {"redistribute", move},    {"create", create}};

const struct stage_call *stage_call_named(const char *name)
{
    for (size_t i = 0; i < sizeof stage_calls / sizeof *stage_calls; i++)
        if (strcmp(stage_calls[i].name, name) == 0)
            return &stage_calls[i];
    return NULL;
}
