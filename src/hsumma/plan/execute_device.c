/* Executions in a context with a device: where they run, and that all hear of what fails on one process. */
#include "hsumma/plan/plan.h"

/* For what a process votes at the start of an execution that may run on devices. */
enum { ON_DEVICE, ON_HOST };

hsumma_status hs_plan_locate(hsumma_plan *plan, int *about, int *vote)
{
    hsumma_context *ctx = plan->ctx;
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    const struct hs_staging *staging = &plan->staging;
    *vote = 0;
    if (device->possible) /* as all see it now: another plan may get larger ones before this one begins */
        device->tiles = ctx->product_pool.on_device[plan->grid->number];
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

hsumma_status hs_plan_settle(hsumma_plan *plan, int vote, int *again)
{
    struct hs_plan_device *device = &hs_plan_holder(plan)->device;
    struct hs_outcome *outcome = &plan->outcome;
    *again = 0;
    if (!plan->ctx->device)
        return HSUMMA_OK;
    if (device->possible && !outcome->settled) {
        outcome->settled = 1;
        outcome->on_device = vote == ON_DEVICE;
        if (!outcome->on_device) { /* whether all have the memory, and whether anybody needs any */
            hs_staging_drop(plan);
            hsumma_status mine = plan->member ? hs_staging_make(plan, 0) : HSUMMA_OK;
            *again = 1;
            return hs_agreement_start(
                &plan->agreement,
                (struct hs_vote){.status = mine, .about = HS_ABOUT_MEMORY, .value = hs_staging_any(plan)});
        }
    } else {
        outcome->staged = vote;
    }
    device->serves = outcome->on_device;
    outcome->late = plan->member ? hs_staging_load(plan) : HSUMMA_OK;
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

/* How it has ended here, and C where the caller wants it. */
static hsumma_status end_of(hsumma_plan *plan, hsumma_status mine)
{
    hsumma_context *ctx = plan->ctx;
    const struct hs_node_product *node = &hs_plan_holder(plan)->device.node;
    if (plan->outcome.late || mine || !plan->member)
        return plan->outcome.late ? plan->outcome.late : mine;
    if (!plan->outcome.on_device)
        return hs_staging_store(plan);
    return node->failed
               ? hs_fail(&ctx->message, node->failed, "process %d: %s", ctx->comm.rank, ctx->device->message.text)
               : HSUMMA_OK;
}

hsumma_status hs_plan_end(hsumma_plan *plan, hsumma_status mine, int *worked, int *done)
{
    struct hs_outcome *outcome = &plan->outcome;
    hsumma_status status = HSUMMA_OK;
    *done = 1;
    if (!plan->in_grid || !(outcome->on_device || outcome->staged))
        return mine;
    if (!outcome->ending) {
        outcome->ending = 1;
        status = hs_agreement_start(&plan->agreement, (struct hs_vote){.status = end_of(plan, mine)});
    }
    if (!status)
        status = hs_agreement_advance(&plan->agreement, worked, done);
    if (!status && *done)
        status = hs_agreement_verdict(&plan->agreement).status;
    return status;
}
