#include "hsumma/context/context.h"

hsumma_status hsumma_malloc(hsumma_context *ctx, size_t bytes, void **memory)
{
    if (!memory)
        return HSUMMA_ERR_ARGUMENT;
    *memory = NULL;
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    if (ctx->broken)
        return hs_context_refuse(ctx);
    hs_context_enter(ctx, HS_ENTERED_MALLOC, ++ctx->entered, 0);
    return (ctx->device ? hs_allocate_on_device : hs_allocate)(ctx, bytes, memory);
}

void hsumma_mfree(hsumma_context *ctx, void *memory)
{
    if (!ctx)
        return;
    if (memory && ctx->device)
        ctx->device->kind->synchronize(ctx->device, ctx->stream);
    if (memory)
        hs_allocation_free(&ctx->allocations, memory, &ctx->memory);
}
