#include "hsumma/context/context.h"

static hsumma_status on_device(hsumma_context *ctx, size_t bytes, void **memory)
{
    MPI_Comm mates = MPI_COMM_NULL;
    hsumma_status status = HSUMMA_ERR_MPI;
    if (MPI_Comm_split_type(ctx->comm.comm, MPI_COMM_TYPE_SHARED, ctx->comm.rank, MPI_INFO_NULL, &mates) == MPI_SUCCESS)
        status = hs_allocate_on_device(&ctx->allocations, &ctx->agreement, mates, ctx->device, bytes, &ctx->memory,
                                       memory, &ctx->message);
    else
        hs_fail(&ctx->message, status, "MPI_Comm_split_type failed");
    if (mates != MPI_COMM_NULL)
        MPI_Comm_free(&mates);
    ctx->broken |= status == HSUMMA_ERR_MPI || ctx->agreement.instance.active;
    return status;
}

hsumma_status hsumma_malloc(hsumma_context *ctx, size_t bytes, void **memory)
{
    *memory = NULL;
    if (ctx->broken)
        return hs_fail(&ctx->message, HSUMMA_ERR_MPI, "MPI or a device has failed before in this context");
    if (ctx->device)
        return on_device(ctx, bytes, memory);
    int shared = ctx->profile.one_node && ctx->comm.size > 1;
    hsumma_status status =
        hs_allocate(&ctx->allocations, &ctx->agreement, shared, bytes, &ctx->memory, memory, &ctx->message);
    ctx->broken = status == HSUMMA_ERR_MPI;
    return status;
}

void hsumma_mfree(hsumma_context *ctx, void *memory)
{
    if (memory && ctx->device)
        ctx->device->kind->synchronize(ctx->device, ctx->stream);
    if (memory)
        hs_allocation_free(&ctx->allocations, memory, &ctx->memory);
}
