/* The arguments of an execution: pointers, leading dimensions and scalars, checked and bound to the plan. */
#include "hsumma/plan/plan.h"

#include "base/hash.h"

#include <inttypes.h>

/* Sets the address of each operand's first local element.  Fails if this process owns a part of a matrix and the
 * pointer to it is NULL. */
static hsumma_status bind(const hsumma_plan *plan, const void *const data[3], const int64_t ld[3],
                          struct hs_matrix matrix[3], int *about)
{
    const struct hs_problem *problem = &plan->problem;
    for (int x = 0; x < 3; x++) {
        const struct hs_view *view = &problem->view[x];
        size_t offset = (size_t)(view->origin[0] + view->origin[1] * ld[x]) * problem->scalar->size;
        /* an arbitrary address, which is not used if nothing is owned; arithmetic on NULL would be undefined */
        matrix[x] = (struct hs_matrix){(char *)plan, ld[x]};
        if (view->rows == 0 || view->cols == 0)
            continue;
        if (!data[x]) {
            const char name = "ABC"[x];
            *about = HS_ABOUT_A + x;
            return hs_fail(&plan->ctx->message, HSUMMA_ERR_ARGUMENT,
                           "%c is NULL on process (%d,%d), which owns %" PRId64 " x %" PRId64
                           " elements; expected the address of its local part",
                           name, problem->grid.coord[0], problem->grid.coord[1], view->rows, view->cols);
        }
        matrix[x].base = (char *)data[x] + offset; /* A and B are only read */
    }
    return HSUMMA_OK;
}

hsumma_status hs_plan_bind(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                           const void *beta, int *about)
{
    if (!plan->in_grid)
        return HSUMMA_OK;
    hsumma_status status = hs_plan_check_local(plan, ld, &plan->ctx->message, about);
    if (!status && plan->member)
        status = bind(plan, data, ld, plan->matrix, about);
    if (!status && (!alpha || !beta)) {
        *about = HS_ABOUT_SCALARS;
        status = hs_fail(&plan->ctx->message, HSUMMA_ERR_ARGUMENT, "%s is NULL; expected the address of a scalar",
                         alpha ? "beta" : "alpha");
    }
    return status;
}

hsumma_status hs_plan_check_overlap(const hsumma_plan *plan, const void *alpha, int *about)
{
    const struct hs_view *view = plan->problem.view;
    /* matrices without data (compute=time) may overlap, and with alpha = 0 those that are not read */
    if (!plan->member || plan->problem.scalar->is_zero(alpha) || !hs_compute_is_real(plan->problem.scalar->compute) ||
        !view[HS_C].rows || !view[HS_C].cols)
        return HSUMMA_OK;
    const int *coord = plan->problem.grid.coord;
    for (int x = HS_A; x <= HS_B; x++)
        if (view[x].rows && view[x].cols && plan->matrix[x].base == plan->matrix[HS_C].base) {
            *about = HS_ABOUT_OVERLAP;
            return hs_fail(
                &plan->ctx->message, HSUMMA_ERR_ARGUMENT,
                "C begins at the address of %s on process (%d,%d); expected a C that does not overlap A or B",
                x == HS_A ? "A" : "B", coord[0], coord[1]);
        }
    return HSUMMA_OK;
}

int64_t hs_plan_execution_hash(hsumma_plan *plan)
{
    const hsumma_plan *holder = hs_plan_holder(plan);
    const size_t size = plan->problem.scalar->size;
    if (!plan->ctx->options.settings.check_always)
        return 0;
    uint64_t hash = hs_mix_bytes(hs_mix(holder->mark, holder->executions), &plan->alpha, size);
    return (int64_t)(hs_mix_bytes(hash, &plan->beta, size) >> 1);
}

hsumma_status hs_plan_judge_start(hsumma_plan *plan, struct hs_verdict verdict)
{
    hsumma_plan *holder = hs_plan_holder(plan);
    const int64_t *extent = plan->problem.extent;
    if (verdict.status || verdict.alike)
        return verdict.status;
    const uint64_t number = holder->executions--;
    char alpha[64], beta[64];
    hs_scalar_write(plan->problem.scalar, &plan->alpha, alpha, sizeof alpha);
    hs_scalar_write(plan->problem.scalar, &plan->beta, beta, sizeof beta);
    return hs_fail(&plan->ctx->message, HSUMMA_ERR_ARGUMENT,
                   "processes execute different plans or pass different scalars: rank %d began execution %" PRIu64
                   " of a product with m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
                   ", alpha = %s, beta = %s; expected the same on all",
                   plan->ctx->comm.rank, number, extent[0], extent[1], extent[2], alpha, beta);
}
