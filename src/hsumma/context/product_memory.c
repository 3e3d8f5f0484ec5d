#include "hsumma/context/product_memory.h"

#include "coll/node/mapping.h"
#include "hsumma/context/context.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int64_t hs_product_memory_limit(void)
{
    const int64_t least = (int64_t)64 << 20, most = (int64_t)1 << 36;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    int64_t quarter = pages > 0 && size > 0 ? (int64_t)pages / 4 * size : 0;
    return quarter < least ? least : quarter > most ? most : quarter / HS_PAGE * HS_PAGE;
}

static size_t directory_bytes(const struct hs_mates *mates)
{
    return (size_t)hs_in_pages((int64_t)hs_directory_bytes(mates->count));
}

/* The reason why a node has no shared memory (vote.about) is an hs_mapping_fault, or NO_MACHINE if a node's processes
 * are on several machines. */
enum { NO_MACHINE = HS_NOT_MADE + 1 };

/* Maps this node's memory; returns HS_MAPPED or the reason why there is none. */
static int map(const hsumma_context *ctx, struct hs_product_memory *shared)
{
    const struct hs_mates *mates = &ctx->comm.mates;
    enum hs_mapping_fault fault = HS_MAPPED;
    if (mates->comm == MPI_COMM_NULL)
        return NO_MACHINE;
    uint64_t bytes = ctx->tile_bytes;
    for (int tries = 0; !shared->mapped && tries < 8 && fault != HS_NOT_OPENED && !ctx->broken; tries++, bytes /= 2) {
        /* smaller at each try, because the address space may be limited */
        shared->bytes = (size_t)bytes / HS_PAGE * HS_PAGE;
        shared->mapped_bytes = directory_bytes(mates) + shared->bytes;
        shared->mapped = hs_mapping_make(mates->comm, shared->mapped_bytes, 0, ctx->comm.watch, &fault);
    }
    return (int)fault;
}

static void describe(const hsumma_context *ctx, struct hs_verdict verdict, char *text, size_t size)
{
    const struct hs_topology *topology = &ctx->comm.topology;
    int node = topology->size ? hs_part_of(&topology->division[HS_NODE], verdict.rank) : 0;
    snprintf(text, size, "node %d cannot share memory: %s", node,
             verdict.about == NO_MACHINE ? "its processes are on several machines (option topology)"
                                         : hs_mapping_fault_text((enum hs_mapping_fault)verdict.about));
}

/* Tiles without data are not in the mapping, since in the simulator each message would copy them. */
static hsumma_status lay_out(hsumma_context *ctx, struct hs_product_memory *shared)
{
    const struct hs_mates *mates = &ctx->comm.mates;
    shared->directory = (struct hs_directory){.entry = shared->mapped,
                                              .ranks = mates->count,
                                              .me = mates->me,
                                              .bells = ctx->comm.block ? &ctx->comm.block->bells : NULL,
                                              .crowded = ctx->comm.crowded};
    shared->mates = mates;
    shared->regions = &ctx->allocations.shared;
    shared->memory = hs_compute_is_real(ctx->compute) ? (char *)shared->mapped + directory_bytes(mates)
                                                      : hs_get(&ctx->bulk, shared->bytes, 1);
    if (shared->memory)
        return HSUMMA_OK;
    hs_product_memory_free(ctx, shared);
    return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for the tiles of a simulated node");
}

hsumma_status hs_product_memory_make(hsumma_context *ctx, struct hs_product_memory *shared)
{
    memset(shared, 0, sizeof *shared);
    shared->taken = hs_get_zero(&ctx->memory, (size_t)ctx->comm.mates.count, sizeof *shared->taken);
    int fault = map(ctx, shared);
    if (ctx->broken) { /* a process has ended meanwhile, or did not arrive in time */
        const hsumma_status status = ctx->comm.roster.failed ? ctx->comm.roster.failed : HSUMMA_ERR_MPI;
        hs_product_memory_free(ctx, shared);
        return hs_context_ended_early(ctx, status, "hsumma_grid_create");
    }
    struct hs_vote vote = {.status = !shared->taken   ? HSUMMA_ERR_MEMORY
                                     : shared->mapped ? HSUMMA_OK
                                                      : HSUMMA_ERR_UNSUPPORTED,
                           .about = fault,
                           /* negative: the verdict has the largest value, that of the node with least memory */
                           .value = -(int64_t)shared->bytes,
                           .hash = (int64_t)(ctx->left_hash >> 1)};
    struct hs_verdict verdict = hs_agree(&ctx->agreement, vote);
    if (!hs_status_is_final(verdict.status) && verdict.alike) /* all have left the same tiles */
        hs_device_tiles_free(ctx);
    if (!verdict.status) {
        shared->bytes = (size_t)-verdict.value;
        return lay_out(ctx, shared);
    }
    hs_product_memory_free(ctx, shared);
    if (hs_status_is_final(verdict.status) && verdict.rank == ctx->comm.rank)
        return hs_context_ended_early(ctx, verdict.status, "hsumma_grid_create");
    if (verdict.status != HSUMMA_ERR_UNSUPPORTED)
        return hs_fail(&ctx->message, verdict.status, "rank %d reports: %s (memory of a grid)", verdict.rank,
                       hsumma_status_string(verdict.status));
    shared->mates = &ctx->comm.mates;
    describe(ctx, verdict, shared->refused, sizeof shared->refused);
    return HSUMMA_OK;
}

void hs_product_memory_free(hsumma_context *ctx, struct hs_product_memory *shared)
{
    if (!hs_compute_is_real(ctx->compute))
        hs_put(&ctx->bulk, shared->memory);
    if (!ctx->broken || ctx->comm.mates.count == ctx->comm.size) /* else MPI may still receive panels into it */
        hs_mapping_free(shared->mapped, shared->mapped_bytes);
    hs_put(&ctx->memory, shared->taken);
    memset(shared, 0, sizeof *shared);
}
