/* Executions in a context with a device: the choice between devices and host, staging, and the end. */
#include "hsumma/plan/plan.h"

/* Votes at the start of an execution that may run on devices.  FROM_HOST: on devices, although this process's C is in
 * host memory. */
enum { ON_DEVICE, FROM_HOST, ON_HOST };

/* Seconds for memory on the device, and for the waits of four processes that share it (doc/results/gpu.md). */
static const double together = 3e-3;

/*
 * Whether this process's C in host memory, and with it A and B, should be copied to the device for a product with
 * operands of several processes.  The device then computes panels from its own memory; local products of host panels
 * would read and write C once for each panel.  A single process has no panels.
 */
static int is_from_host(const hsumma_plan *plan)
{
    const hsumma_context *ctx = plan->ctx;
    const struct hs_problem *problem = &plan->problem;
    const struct hs_view *c = &problem->view[HS_C];
    const int64_t extent[3] = {[HS_M] = c->rows, [HS_N] = c->cols, [HS_K] = problem->extent[HS_K]};
    return problem->grid.extent[0] * problem->grid.extent[1] > 1 &&
           hs_local_prefers(ctx->local, problem->scalar, extent, together) &&
           hs_staging_bytes(plan) <= hs_local_memory(ctx->local) && !hs_only_scales(problem, &plan->alpha);
}

hsumma_status hs_plan_locate(hsumma_plan *plan, int *about, int *vote)
{
    hsumma_context *ctx = plan->ctx;
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    const struct hs_staging *staging = &plan->staging;
    *vote = 0;
    /* all processes have the same tiles here; another plan may replace the grid's tiles before this execution begins,
     * or before its next section */
    const struct hs_plan_device *lead = hs_sections_follow(plan) ? &plan->sections->plan[0]->device : NULL;
    if (device->possible)
        device->tiles = lead && lead->possible ? lead->tiles : plan->grid->on_device;
    if (!ctx->device || !plan->member)
        return HSUMMA_OK;
    hs_staging_look(plan);
    if (device->possible) {
        int there = staging->on_device[HS_C] || !staging->has[HS_C];
        *vote = there ? ON_DEVICE : is_from_host(plan) ? FROM_HOST : ON_HOST;
        if (*vote != ON_HOST && hs_staging_make(plan, 1))
            *vote = ON_HOST;
        return HSUMMA_OK;
    }
    hsumma_status status = hs_staging_make(plan, 0);
    *about = status ? HS_ABOUT_MEMORY : *about;
    *vote = hs_staging_any(plan);
    return status;
}

/* Continues on the host: drops copies on the device, and agrees on whether all processes have memory for copies in host
 * memory, and whether any process needs them. */
static hsumma_status stay_on_host(hsumma_plan *plan, hsumma_status mine)
{
    plan->on_device = plan->from_host = 0;
    hs_staging_drop(plan);
    if (!mine && plan->member)
        mine = hs_staging_make(plan, 0);
    plan->phase = HS_PLAN_STAGING;
    return hs_agreement_start(
        &plan->agreement, (struct hs_vote){.status = mine, .about = HS_ABOUT_MEMORY, .value = hs_staging_any(plan)});
}

hsumma_status hs_plan_settle(hsumma_plan *plan, int vote)
{
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    int staging = plan->phase == HS_PLAN_STAGING;
    plan->phase = HS_PLAN_MULTIPLYING;
    if (!plan->ctx->device)
        return HSUMMA_OK;
    if (!device->possible || staging)
        plan->staged = vote;
    else
        plan->on_device = vote != ON_HOST;
    if (device->possible && !staging && !plan->on_device)
        return stay_on_host(plan, HSUMMA_OK);
    plan->from_host = plan->on_device && vote == FROM_HOST;
    device->serves = plan->on_device;
    plan->failure = plan->member ? hs_staging_load(plan) : HSUMMA_OK;
    return HSUMMA_OK;
}

void hs_plan_begin_on_device(hsumma_plan *plan, uint64_t execution)
{
    static const struct hs_where nowhere[2] = {{-1, 0}, {-1, 0}};
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    device->tiles->outside = plan->ctx->stream;
    device->tiles->to_host = plan->from_host;
    hs_staging_panels(plan, device->tiles->host);
    hs_node_start(&device->node, &plan->grid->shared, NULL, device->tiles, execution, &plan->alpha, plan->matrix,
                  nowhere, &plan->beta, plan->began);
}

hsumma_status hs_plan_end(hsumma_plan *plan)
{
    if (plan->failure || !plan->member)
        return plan->failure;
    if (!plan->on_device)
        return hs_staging_store(plan);
    hsumma_status status = hs_plan_holder(plan)->device.node.failed;
    if (!status && plan->from_host) /* before C is copied to host memory, its work must have succeeded everywhere */
        status = plan->ctx->device->kind->synchronize(plan->ctx->device, plan->ctx->stream);
    return hs_context_device_said(plan->ctx, status);
}

hsumma_status hs_plan_reported(hsumma_plan *plan, hsumma_status status)
{
    hsumma_context *ctx = plan->ctx;
    if (!hs_plan_is_unsaved(plan) || hs_status_is_final(status))
        return status;
    plan->saved = 1;
    if (!status) {
        plan->failure = plan->member ? hs_staging_store(plan) : HSUMMA_OK;
        return hs_agreement_start(&plan->agreement, (struct hs_vote){.status = plan->failure});
    }
    hsumma_status mine = plan->member ? hs_plan_end(plan) : HSUMMA_OK;
    if (mine)
        hs_local_disable(ctx->local, mine);
    plan->failure = HSUMMA_OK;
    plan->began = hs_now();
    /* no C in host memory has been written yet; a C in device memory may be undefined */
    return stay_on_host(plan, plan->member && plan->staging.on_device[HS_C] ? status : HSUMMA_OK);
}
