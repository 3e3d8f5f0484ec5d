/* Device memory for the products of a grid. */
#include "base/hash.h"
#include "hsumma/context/context.h"
#include "hsumma/context/product_memory.h"
#include "summa/node/on_device.h"

static hsumma_status make_streams(struct hs_node_device *on)
{
    struct hs_device *device = on->device;
    const struct hs_device_kind *kind = device->kind;
    hsumma_status status = kind->make_stream(device, &on->copies);
    if (!status)
        status = kind->make_stream(device, &on->products);
    if (!status)
        status = kind->make_event(device, 0, &on->turn);
    return status;
}

/* Frees tiles and all older tiles of the list.  No process may have them mapped any more. */
static void free_all(struct hsumma_context *ctx, struct hs_node_device *on)
{
    while (on) {
        const struct hs_device_kind *kind = on->device->kind;
        struct hs_node_device *older = on->older;
        hs_device_share_free(&on->share, &ctx->memory);
        kind->free_event(on->device, on->turn);
        if (on->products)
            kind->free_stream(on->device, on->products);
        if (on->copies)
            kind->free_stream(on->device, on->copies);
        hs_put(&ctx->memory, on);
        on = older;
    }
}

/* Waits for this process's work on all tiles of the list, and unmaps tiles in other processes' memory. */
static void leave_all(struct hs_node_device *on)
{
    for (; on; on = on->older) {
        on->device->kind->synchronize(on->device, on->copies);
        on->device->kind->synchronize(on->device, on->products);
        hs_device_share_leave(&on->share);
    }
}

hsumma_status hs_device_tiles_grow(struct hsumma_context *ctx, struct hs_node_device **place, int owner, size_t bytes)
{
    const size_t unit = (size_t)2 << 20;
    if (*place && (*place)->bytes >= bytes)
        return HSUMMA_OK;
    bytes = (bytes + unit - 1) / unit * unit;
    struct hs_message *message = &ctx->message;
    struct hs_node_device *on = hs_get_zero(&ctx->memory, 1, sizeof *on);
    hsumma_status status = on ? HSUMMA_OK : hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a plan");
    if (on) {
        *on = (struct hs_node_device){.device = ctx->device, .owner = owner, .bytes = bytes};
        status = hs_context_device_said(ctx, make_streams(on));
    }
    /* the vote's value is 1 while a plan runs, because its execution may use the current memory */
    struct hs_verdict verdict =
        hs_agree(&ctx->agreement, (struct hs_vote){.status = status, .value = ctx->running != NULL});
    if (verdict.status && !status)
        hs_fail(message, verdict.status, "rank %d reports: %s (memory of its device)", verdict.rank,
                hsumma_status_string(verdict.status));
    status = verdict.status;
    if (!status)
        status = hs_device_share_make(&on->share, ctx->comm.comm, ctx->comm.watch, ctx->device, HS_NODE_ALL_EVENTS,
                                      owner == ctx->comm.rank ? bytes : 0, &ctx->memory, message);
    if (status) {
        free_all(ctx, on);
        return status;
    }
    if (!verdict.value) {
        leave_all(*place);
        status = hs_agree(&ctx->agreement, (struct hs_vote){0}).status;
        free_all(ctx, *place);
        *place = NULL;
    }
    on->older = *place;
    *place = on;
    return status ? hs_fail(message, status, "MPI failed while a plan was made") : HSUMMA_OK;
}

void hs_device_tiles_leave(struct hsumma_context *ctx, struct hs_node_device **tiles, int number)
{
    struct hs_node_device **end = tiles;
    /* in a broken context, work may wait for a process that has ended, so nothing is freed */
    if (!*tiles || ctx->broken)
        return;
    leave_all(*tiles);
    while (*end)
        end = &(*end)->older;
    *end = ctx->left_tiles;
    ctx->left_tiles = *tiles;
    ctx->left_hash += hs_mix(0, (uint64_t)number + 1);
    *tiles = NULL;
}

void hs_device_tiles_free(struct hsumma_context *ctx)
{
    free_all(ctx, ctx->left_tiles);
    ctx->left_tiles = NULL;
    ctx->left_hash = 0;
}
