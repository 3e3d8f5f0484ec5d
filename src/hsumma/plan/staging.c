#include "hsumma/plan/plan.h"

#include <string.h>

void hs_staging_look(hsumma_plan *plan)
{
    struct hs_staging *staging = &plan->staging;
    struct hs_device *device = plan->ctx->device;
    for (int x = 0; x < 3; x++) {
        const struct hs_view *view = &plan->problem.view[x];
        staging->own[x] = plan->matrix[x];
        staging->has[x] = view->rows > 0 && view->cols > 0;
        staging->on_device[x] =
            staging->has[x] && hs_memory_is_reachable(device->kind->classify(device, plan->matrix[x].base));
    }
}

static hsumma_status get(hsumma_plan *plan, int on_device, size_t bytes, struct hs_staged_copy *staged)
{
    struct hs_device *device = plan->ctx->device;
    hsumma_status status = HSUMMA_OK;
    if (on_device) {
        status = device->kind->get(device, bytes, &staged->memory);
        staged->kind = HS_OF_DEVICE;
    } else if (device->kind->get_pinned(device, bytes, &staged->memory) == HSUMMA_OK) {
        staged->kind = HS_PINNED;
    } else {
        staged->memory = hs_get(&plan->ctx->memory, bytes, 1);
        staged->kind = HS_OF_HOST;
        status = staged->memory ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    staged->kind = status ? HS_NOT_STAGED : staged->kind;
    return status;
}

/* Bytes of the copy of operand x that an execution on the device (on_device 1) or on the host needs; 0 for none. */
static int64_t copy_bytes(const hsumma_plan *plan, int x, int on_device)
{
    const struct hs_staging *staging = &plan->staging;
    const struct hs_view *view = &plan->problem.view[x];
    int needed = staging->has[x] && staging->on_device[x] != on_device;
    return needed ? view->rows * view->cols * (int64_t)plan->problem.scalar->size : 0;
}

int64_t hs_staging_bytes(const hsumma_plan *plan)
{
    return copy_bytes(plan, HS_A, 1) + copy_bytes(plan, HS_B, 1) + copy_bytes(plan, HS_C, 1);
}

hsumma_status hs_staging_make(hsumma_plan *plan, int on_device)
{
    struct hs_staging *staging = &plan->staging;
    for (int x = 0; x < 3; x++) {
        const size_t bytes = (size_t)copy_bytes(plan, x, on_device);
        if (bytes == 0)
            continue;
        hsumma_status status = get(plan, on_device, bytes, &staging->copy[x]);
        if (status) {
            hs_staging_drop(plan);
            return hs_fail(&plan->ctx->message, HSUMMA_ERR_MEMORY,
                           "rank %d: no %zu bytes of %s memory for a copy of its part of %c", plan->ctx->comm.rank,
                           bytes, on_device ? "device" : "host", "ABC"[x]);
        }
        plan->matrix[x] = (struct hs_matrix){staging->copy[x].memory, plan->problem.view[x].rows};
    }
    return HSUMMA_OK;
}

int hs_staging_any(const hsumma_plan *plan)
{
    int any = 0;
    for (int x = 0; x < 3; x++)
        any |= plan->staging.copy[x].kind != HS_NOT_STAGED;
    return any;
}

/* Copies between an operand and its staged copy, on the context's stream. */
static hsumma_status copy(hsumma_plan *plan, int x, const struct hs_matrix *to, const struct hs_matrix *from)
{
    struct hs_device *device = plan->ctx->device;
    size_t size = plan->problem.scalar->size;
    const struct hs_view *view = &plan->problem.view[x];
    return device->kind->copy_block(device, plan->ctx->stream, to->base, (size_t)to->ld * size, from->base,
                                    (size_t)from->ld * size, (size_t)view->rows * size, (size_t)view->cols);
}

/* Whether the execution loads an operand by panels. */
static int by_panels(hsumma_plan *plan, int x)
{
    return plan->on_device && x != HS_C && hs_plan_holder(plan)->device.node.variant.role[x].moves &&
           plan->staging.copy[x].kind == HS_OF_DEVICE;
}

void hs_staging_panels(hsumma_plan *plan, struct hs_matrix host[2])
{
    for (int x = 0; x < 2; x++)
        host[x] = by_panels(plan, x) ? plan->staging.own[x] : (struct hs_matrix){NULL, 0};
}

hsumma_status hs_staging_load(hsumma_plan *plan)
{
    const struct hs_problem *problem = &plan->problem;
    struct hs_staging *staging = &plan->staging;
    struct hs_device *device = plan->ctx->device;
    int scales = hs_only_scales(problem, &plan->alpha), full = 0;
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; x < 3 && !status; x++) {
        int read = x == HS_C ? !problem->scalar->is_zero(&plan->beta) : !scales;
        if (staging->copy[x].kind == HS_NOT_STAGED || !read || by_panels(plan, x))
            continue;
        full |= staging->copy[x].kind != HS_OF_DEVICE;
        status = copy(plan, x, &plan->matrix[x], &staging->own[x]);
    }
    if (!status && full)
        status = device->kind->synchronize(device, plan->ctx->stream);
    return hs_context_device_said(plan->ctx, status);
}

hsumma_status hs_staging_store(hsumma_plan *plan)
{
    struct hs_staging *staging = &plan->staging;
    struct hs_device *device = plan->ctx->device;
    if (staging->copy[HS_C].kind == HS_NOT_STAGED)
        return HSUMMA_OK;
    hsumma_status status = copy(plan, HS_C, &staging->own[HS_C], &plan->matrix[HS_C]);
    if (!status)
        status = device->kind->synchronize(device, plan->ctx->stream);
    return hs_context_device_said(plan->ctx, status);
}

void hs_staging_drop(hsumma_plan *plan)
{
    struct hs_staging *staging = &plan->staging;
    struct hs_device *device = plan->ctx->device;
    if (!device || !hs_staging_any(plan))
        return;
    device->kind->synchronize(device, plan->ctx->stream); /* copies may still be in flight after an error */
    for (int x = 0; x < 3; x++) {
        struct hs_staged_copy *staged = &staging->copy[x];
        if (staged->kind == HS_OF_DEVICE)
            device->kind->put(device, staged->memory);
        else if (staged->kind == HS_PINNED)
            device->kind->put_pinned(device, staged->memory);
        else if (staged->kind == HS_OF_HOST)
            hs_put(&plan->ctx->memory, staged->memory);
        if (staged->kind != HS_NOT_STAGED)
            plan->matrix[x] = staging->own[x];
        *staged = (struct hs_staged_copy){HS_NOT_STAGED, NULL};
    }
}
