/* Executions in a context with a device: the choice between devices and host, staging, and the end. */
#include "hsumma/plan/plan.h"

/* Votes at the start of an execution that may run on devices. */
enum { ON_DEVICE, ON_HOST };

hsumma_status hs_plan_locate(hsumma_plan *plan, int *about, int *vote)
{
    hsumma_context *ctx = plan->ctx;
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    const struct hs_staging *staging = &plan->staging;
    *vote = 0;
    /* all processes have the same tiles here; another plan may replace the grid's tiles before this execution begins */
    if (device->possible)
        device->tiles = plan->grid->on_device;
    if (!ctx->device || !plan->member)
        return HSUMMA_OK;
    hs_staging_look(plan);
    if (device->possible) {
        int there = (staging->on_device[HS_C] || !staging->has[HS_C]) && !hs_staging_make(plan, 1);
        *vote = there ? ON_DEVICE : ON_HOST;
        return HSUMMA_OK;
    }
    hsumma_status status = hs_staging_make(plan, 0);
    *about = status ? HS_ABOUT_MEMORY : *about;
    *vote = hs_staging_any(plan);
    return status;
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
        plan->on_device = vote == ON_DEVICE;
    /* agree on whether all processes have memory for staged copies, and whether any process needs copies */
    if (device->possible && !staging && !plan->on_device) {
        hs_staging_drop(plan);
        hsumma_status mine = plan->member ? hs_staging_make(plan, 0) : HSUMMA_OK;
        plan->phase = HS_PLAN_STAGING;
        return hs_agreement_start(
            &plan->agreement,
            (struct hs_vote){.status = mine, .about = HS_ABOUT_MEMORY, .value = hs_staging_any(plan)});
    }
    device->serves = plan->on_device;
    plan->failure = plan->member ? hs_staging_load(plan) : HSUMMA_OK;
    return HSUMMA_OK;
}

void hs_plan_begin_on_device(hsumma_plan *plan, uint64_t execution)
{
    static const struct hs_where nowhere[2] = {{-1, 0}, {-1, 0}};
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    device->tiles->outside = plan->ctx->stream;
    hs_node_start(&device->node, &plan->grid->shared, device->tiles, execution, &plan->alpha, plan->matrix, nowhere,
                  &plan->beta, plan->began);
}

hsumma_status hs_plan_end(hsumma_plan *plan)
{
    if (plan->failure || !plan->member)
        return plan->failure;
    if (!plan->on_device)
        return hs_staging_store(plan);
    return hs_context_device_said(plan->ctx, hs_plan_holder(plan)->device.node.failed);
}
