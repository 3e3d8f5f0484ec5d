#include "hsumma/context/context.h"

struct hs_axis hs_desc_axis(const hsumma_desc *desc, int axis)
{
    const struct hs_grid *grid = &desc->grid->grid;
    return axis == 0 ? hs_axis_make(desc->m, desc->mb, desc->imb, desc->rsrc, grid->extent[0])
                     : hs_axis_make(desc->n, desc->nb, desc->inb, desc->csrc, grid->extent[1]);
}

hsumma_status hs_context_device_said(hsumma_context *ctx, hsumma_status status)
{
    return status ? hs_fail(&ctx->message, status, "process %d: %s", ctx->comm.rank, ctx->device->message.text)
                  : HSUMMA_OK;
}

hsumma_status hs_context_check_free(hsumma_context *ctx)
{
    if (ctx->running)
        return hs_fail(&ctx->message, HSUMMA_ERR_BUSY, "a plan of this context has been started and not waited for");
    if (ctx->broken)
        return hs_fail(&ctx->message, HSUMMA_ERR_MPI, "MPI or a device has failed before in this context");
    return HSUMMA_OK;
}

void hs_context_release(hsumma_context *ctx)
{
    if (--ctx->holders == 0)
        ctx->destroy(ctx);
}

void hs_grid_release(hsumma_grid *grid)
{
    if (--grid->holders > 0)
        return;
    hsumma_context *ctx = grid->ctx;
    hs_product_memory_free(ctx, &grid->shared);
    hs_device_tiles_leave(ctx, &grid->on_device, grid->number);
    hs_put(&ctx->memory, grid->rank);
    hs_put(&ctx->memory, grid);
    hs_context_release(ctx);
}
