#include "api/local_product.h"

#include "coll/node/agree_mpi.h"

#include <string.h>

/* Processes that use the same device as this one, itself among them; 0: MPI has failed. */
static int sharers(const hsumma_context *ctx, hsumma_status *status)
{
    const size_t length = sizeof ctx->device->location;
    char mine[sizeof ctx->device->location];
    char *all = hs_get(&ctx->memory, (size_t)ctx->comm.size, length);
    int count = 0;
    memcpy(mine, ctx->device->location, length);
    /* one without memory for the answers takes part all the same */
    *status = hs_agreed(ctx->comm.comm, all ? HSUMMA_OK : HSUMMA_ERR_MEMORY);
    if (!*status &&
        MPI_Allgather(mine, (int)length, MPI_CHAR, all, (int)length, MPI_CHAR, ctx->comm.comm) != MPI_SUCCESS)
        *status = HSUMMA_ERR_MPI;
    for (int r = 0; !*status && r < ctx->comm.size; r++)
        count += strncmp(all + (size_t)r * length, mine, length) == 0;
    hs_put(&ctx->memory, all);
    return count;
}

/* The device's numbers are the usual ones; the BLAS's are the profile's. */
static struct hs_local_limits limits_of(const hsumma_context *ctx)
{
    const struct hs_profile *profile = &ctx->profile;
    struct hs_local_limits limits = hs_local_usual;
    double threads = (double)ctx->threads_model / (profile->threads > 0 ? profile->threads : 1);
    for (int single = 0; single < 2; single++)
        limits.host[single] = threads / profile->gemm[single].flop;
    if (ctx->device->kind->is_stand_in)
        limits.host[0] = limits.host[1] = 0;
    return limits;
}

hsumma_status hs_context_make_local(hsumma_context *ctx, const struct hs_settings *settings, struct hs_message *why)
{
    struct hs_device *device = ctx->device;
    struct hs_local_limits limits = limits_of(ctx);
    int64_t free_bytes = 0, all_bytes;
    hsumma_status status, shared;
    int processes = sharers(ctx, &shared);
    status = device->kind->memory_left(device, &free_bytes, &all_bytes);
    if (status)
        *why = device->message;
    if (shared)
        return hs_fail(why, shared, "who shares the device \"%s\" could not be found out", device->name);
    limits.memory = settings->device_bytes ? settings->device_bytes
                                           : (int64_t)(settings->device_share * (double)free_bytes / processes);
    if (!status && hs_local_make(device, &ctx->stream, &limits, &ctx->memory, &ctx->local))
        status = hs_fail(why, HSUMMA_ERR_MEMORY, "no memory for products on a device");
    return status;
}
