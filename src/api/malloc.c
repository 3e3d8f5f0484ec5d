#include "hsumma/context.h"

hsumma_status hsumma_malloc(hsumma_context *ctx, size_t bytes, void **memory)
{
    *memory = NULL;
    if (ctx->broken)
        return hs_fail(&ctx->message, HSUMMA_ERR_MPI, "MPI has failed before in this context");
    int shared = ctx->profile.one_node && ctx->comm.size > 1;
    hsumma_status status =
        hs_region_make(&ctx->regions, &ctx->agreement, shared, bytes, &ctx->memory, memory, &ctx->message);
    ctx->broken = status == HSUMMA_ERR_MPI;
    return status;
}

void hsumma_mfree(hsumma_context *ctx, void *memory)
{
    if (memory)
        hs_region_free(&ctx->regions, memory, &ctx->memory);
}
