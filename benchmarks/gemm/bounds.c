/* The bytes that the plan moves, and lower bounds; declared in command.h. */
#include "common/command.h"
#include "gemm/command.h"
#include "hsumma/plan/trial.h"

/* Counts the messages and bytes that this rank sends, by receiving process and node. */
static hsumma_status count_own(bounds_count *count, const hsumma_plan *plan)
{
    hsumma_status status = bounds_count_create(count, &plan->ctx->comm.topology.division[HS_NODE]);

    if (!status && plan->member && !plan->by_node)
        bounds_count_add(count, &plan->loop);
    return status;
}

int gemm_bounds(contest *r)
{
    const hsumma_plan *plan = r->plan ? hs_trial_turn(r->plan) : NULL;
    product_bounds *bounds = &r->contenders[0].bounds;
    bounds_count count = {.size = 0};
    hsumma_status status = HSUMMA_OK;
    int counted, code;

    /* a layered plan has no lists of its own to count, and one in sections has several */
    if (!plan || plan->layered || plan->sections || problem_on_device(&r->p))
        return COMMAND_OK;
    counted = r->p.ranks <= BOUNDS_COUNTED;
    code = command_fail(r->p.comm, counted && count_own(&count, plan), "no memory to count messages");
    if (counted && !code)
        quiet_allreduce(MPI_IN_PLACE, count.sums, count.size, MPI_INT64_T, MPI_SUM, r->p.comm);
    if (!code && r->p.rank == 0)
        status = bounds_of(bounds, counted ? &count : NULL, plan, &r->info, (int64_t)r->info.workspace_bytes_max);
    if (!code)
        code = command_fail(r->p.comm, status != HSUMMA_OK, "lower bounds: %s", hsumma_status_string(status));
    bounds_count_free(&count);
    return code;
}
