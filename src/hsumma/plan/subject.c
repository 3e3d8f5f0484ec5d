/* The problem of a plan, and the one for which it is chosen. */
#include "dist/cover.h"
#include "hsumma/plan/plan.h"
#include "summa/local/ordered.h"

#include <string.h>

void hs_plan_problem(const struct hs_request *request, const struct hs_settings *settings, struct hs_scalar *scalar,
                     struct hs_problem *problem)
{
    hsumma_context *ctx = request->desc[0]->grid->ctx;
    *scalar = hs_scalars[request->type];
    scalar->compute = ctx->compute;
    if (settings->bits)
        hs_scalar_order(scalar);
    *problem = (struct hs_problem){
        .scalar = scalar, .grid = request->desc[0]->grid->grid, .local = ctx->local, .trace = ctx->comm.trace};
    memcpy(problem->extent, request->extent, sizeof problem->extent);
    for (int x = 0; x < 3; x++) {
        const hsumma_desc *desc = request->desc[x];
        struct hs_axis rows = hs_desc_axis(desc, 0), cols = hs_desc_axis(desc, 1);
        char op = request->op[x] == 'C' && !problem->scalar->complex_type ? 'T' : request->op[x];
        int64_t logical[2] = {request->extent[hs_operand_dims[x][0]], request->extent[hs_operand_dims[x][1]]};
        problem->view[x] = hs_view_make(&rows, &cols, desc->i, desc->j, logical[op == 'N' ? 0 : 1],
                                        logical[op == 'N' ? 1 : 0], desc->grid->grid.coord, desc->ld, op);
    }
}

void hs_subject_make(hsumma_plan *plan, const struct hs_request *request, const struct hs_settings *settings,
                     struct hs_subject *subject)
{
    subject->whole = plan->problem;
    if (request->largest) {
        struct hs_request largest = *request;
        for (int x = 0; x < 3; x++)
            largest.desc[x] = &request->largest[x];
        largest.extent[HS_K] = hs_layered_share_of_k(request, request->largest);
        hs_plan_problem(&largest, settings, &plan->scalar, &subject->whole);
    }
    subject->without_idle = subject->whole;
}

hsumma_status hs_plan_leave_idle(hsumma_plan *plan, struct hs_subject *subject, const struct hs_settings *settings)
{
    struct hs_problem *problem[2] = {&plan->problem, &subject->without_idle};
    struct hs_grid *grid = &plan->problem.grid, whole = *grid;
    struct hs_cover cover[2];
    for (int a = 0; a < 2; a++) {
        const struct hs_axis *axis[3];
        for (int x = 0; x < 3; x++)
            axis[x] = &subject->whole.view[x].axis[a];
        cover[a] = hs_cover_make(axis, 3, whole.extent[a]);
    }
    if (settings->levels > 0 || (cover[0].length == whole.extent[0] && cover[1].length == whole.extent[1]))
        return HSUMMA_OK;
    plan->ranks = hs_get(&plan->ctx->memory, (size_t)cover[0].length * (size_t)cover[1].length, sizeof *plan->ranks);
    if (!plan->ranks)
        return HSUMMA_ERR_MEMORY;
    grid->rank = plan->ranks;
    for (int i = 0; i < cover[0].length; i++)
        for (int j = 0; j < cover[1].length; j++)
            plan->ranks[i * cover[1].length + j] =
                hs_grid_rank(&whole, (cover[0].start + i) % whole.extent[0] * whole.extent[1] +
                                         (cover[1].start + j) % whole.extent[1]);
    for (int a = 0; a < 2; a++) {
        for (int x = 0; cover[a].length < whole.extent[a] && x < 3; x++)
            for (int p = 0; p < 2; p++)
                problem[p]->view[x].axis[a] = hs_cover_axis(&cover[a], &problem[p]->view[x].axis[a]);
        grid->extent[a] = cover[a].length;
        grid->coord[a] = plan->in_grid ? hs_cover_index(&cover[a], whole.extent[a], whole.coord[a]) : -1;
    }
    if (grid->coord[0] < 0 || grid->coord[1] < 0)
        grid->coord[0] = grid->coord[1] = -1;
    plan->member = grid->coord[0] >= 0;
    subject->without_idle.grid = *grid;
    return HSUMMA_OK;
}
