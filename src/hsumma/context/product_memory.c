#include "hsumma/context/product_memory.h"

#include "coll/node/mapping.h"
#include "hsumma/context/context.h"

#include <string.h>
#include <unistd.h>

/* What the panel buffers of one grid may take at most: a quarter of the node's memory. */
static size_t quarter_of_memory(void)
{
    const size_t least = (size_t)64 << 20, most = (size_t)1 << 36;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t quarter = pages > 0 && size > 0 ? (size_t)pages / 4 * (size_t)size : 0;
    return quarter < least ? least : quarter > most ? most : quarter / HS_PAGE * HS_PAGE;
}

static size_t directory_bytes(const hsumma_context *ctx)
{
    return (size_t)hs_in_pages((int64_t)hs_directory_bytes(ctx->comm.size));
}

void hs_product_pool_make(hsumma_context *ctx)
{
    struct hs_product_pool *pool = &ctx->product_pool;
    uint64_t quarter = quarter_of_memory();
    /* one node, but a container may show its processes different limits */
    if (!ctx->profile.one_node || (ctx->comm.size == 1 && !ctx->device) ||
        MPI_Bcast(&quarter, 1, MPI_UINT64_T, 0, ctx->comm.comm) != MPI_SUCCESS)
        return;
    for (int tries = 0; !pool->base && tries < 8; tries++, quarter /= 2) { /* limits on address space */
        pool->pitch = directory_bytes(ctx) + (size_t)quarter / HS_PAGE * HS_PAGE;
        pool->bytes = HS_POOL_GRIDS * pool->pitch;
        pool->base = hs_mapping_make(ctx->comm.comm, pool->bytes, 0);
    }
}

void hs_product_pool_free(hsumma_context *ctx)
{
    struct hs_product_pool *pool = &ctx->product_pool;
    hs_product_pool_free_on_device(ctx);
    hs_mapping_free(pool->base, pool->bytes);
    pool->base = NULL;
}

hsumma_status hs_product_memory_take(hsumma_context *ctx, int number, struct hs_product_memory *shared)
{
    struct hs_product_pool *pool = &ctx->product_pool;
    memset(shared, 0, sizeof *shared);
    if (!pool->base || number >= HS_POOL_GRIDS)
        return HSUMMA_OK;
    shared->taken = hs_get_zero(&ctx->memory, (size_t)ctx->comm.size, sizeof *shared->taken);
    if (!shared->taken)
        return HSUMMA_ERR_MEMORY;
    char *base = pool->base + (size_t)number * pool->pitch;
    shared->directory = (struct hs_directory){.entry = (struct hs_directory_entry *)base,
                                              .ranks = ctx->comm.size,
                                              .me = ctx->comm.rank,
                                              .bells = ctx->comm.block ? &ctx->comm.block->bells : NULL,
                                              .crowded = ctx->comm.size > sysconf(_SC_NPROCESSORS_ONLN)};
    shared->regions = &ctx->allocations.shared;
    shared->memory = base + directory_bytes(ctx);
    shared->bytes = pool->pitch - directory_bytes(ctx);
    return HSUMMA_OK;
}

void hs_product_memory_leave(hsumma_context *ctx, struct hs_product_memory *shared)
{
    hs_put(&ctx->memory, shared->taken);
    shared->taken = NULL;
}
