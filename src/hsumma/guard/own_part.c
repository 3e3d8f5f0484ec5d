#include "hsumma/guard/own_part.h"

#include "hsumma/plan/plan.h"

static const struct hs_grid *grid_of(const hsumma_plan *plan, int x)
{
    return plan->layered ? &plan->held[x]->grid : &plan->problem.grid;
}

int hs_copies_of_part(const hsumma_plan *plan, int x, int *copy)
{
    const struct hs_grid *grid = grid_of(plan, x);
    int copies = 1;
    *copy = 0;
    for (int a = 0; a < 2; a++)
        if (plan->problem.view[x].axis[a].nprocs < grid->extent[a]) {
            *copy = *copy * grid->extent[a] + grid->coord[a];
            copies *= grid->extent[a];
        }
    return copies;
}

int hs_has_own_part(const hsumma_plan *plan, int x)
{
    const struct hs_view *view = &plan->problem.view[x];
    return plan->in_grid && grid_of(plan, x)->coord[0] >= 0 && view->rows > 0 && view->cols > 0;
}

struct hs_matrix hs_own_matrix(const hsumma_plan *plan, int x, int *on_device)
{
    *on_device = plan->ctx->device && plan->staging.on_device[x];
    return plan->ctx->device ? plan->staging.own[x] : plan->matrix[x];
}

hsumma_status hs_copy_own(const hsumma_plan *plan, struct hs_matrix to, struct hs_matrix from, int64_t rows,
                          int64_t cols)
{
    struct hs_device *device = plan->ctx->device;
    size_t size = plan->problem.scalar->size;
    if (!device) {
        hs_copy_block(size, rows, cols, to.base, to.ld, from.base, from.ld);
        return HSUMMA_OK;
    }
    hsumma_status status = device->kind->copy_block(device, plan->ctx->stream, to.base, (size_t)to.ld * size, from.base,
                                                    (size_t)from.ld * size, (size_t)rows * size, (size_t)cols);
    return status ? status : device->kind->synchronize(device, plan->ctx->stream);
}

hsumma_status hs_read_own_part(const hsumma_plan *plan, int x, char *slab, hs_visit_part *visit, void *state)
{
    const struct hs_view *view = &plan->problem.view[x];
    const struct hs_grid *grid = grid_of(plan, x);
    size_t size = plan->problem.scalar->size;
    int on_device;
    if (!hs_has_own_part(plan, x))
        return HSUMMA_OK;
    if (!hs_compute_bytes(plan->problem.scalar->compute, HS_WORK_SUM, view->rows * view->cols * (int64_t)size))
        return HSUMMA_OK;
    const struct hs_matrix matrix = hs_own_matrix(plan, x, &on_device);
    struct hs_local_part part = {.view = view, .matrix = matrix, .cols = view->cols};
    for (int a = 0; a < 2; a++)
        part.coord[a] = view->axis[a].nprocs < grid->extent[a] ? 0 : grid->coord[a];
    if (!on_device) {
        visit(plan, &part, state);
        return HSUMMA_OK;
    }
    int64_t width = HS_SLAB / (view->rows * (int64_t)size);
    part.matrix = (struct hs_matrix){slab, view->rows};
    for (; part.first < view->cols; part.first += part.cols) {
        part.cols = hs_min(width > HS_SLAB_COLUMNS ? width : HS_SLAB_COLUMNS, view->cols - part.first);
        const struct hs_matrix from = {matrix.base + (size_t)(part.first * matrix.ld) * size, matrix.ld};
        hsumma_status status = hs_copy_own(plan, part.matrix, from, view->rows, part.cols);
        if (status)
            return hs_context_device_said(plan->ctx, status);
        visit(plan, &part, state);
    }
    return HSUMMA_OK;
}
