#include "base/hash.h"
#include "hsumma/context/context.h"
#include "hsumma/context/tiling.h"

#include <string.h>

/* Stores the ranks of the grid as given, and checks them. */
static hsumma_status list(hsumma_context *ctx, const int *ranks, int count, int *rank, unsigned char *seen)
{
    for (int i = 0; i < count; i++) {
        rank[i] = ranks ? ranks[i] : i;
        if (rank[i] < 0 || rank[i] >= ctx->comm.size || seen[rank[i]]++)
            return hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT,
                           "ranks[%d] is %d; expected ranks from 0 to %d, each once", i, rank[i], ctx->comm.size - 1);
    }
    return HSUMMA_OK;
}

/* Arranges the listed ranks in the requested order, and finds this process's coordinates. */
static hsumma_status place(hsumma_context *ctx, const int extent[2], char order, hsumma_grid *grid)
{
    hsumma_status status = hs_grid_order(extent, order, &ctx->comm.topology, grid->rank, &ctx->memory);
    if (status)
        return hs_fail(&ctx->message, status, "no memory for a grid");
    grid->grid = (struct hs_grid){.extent = {extent[0], extent[1]}, .coord = {-1, -1}, .rank = grid->rank};
    int regular = 1;
    for (int i = 0; i < extent[0] * extent[1]; i++) {
        regular &= grid->rank[i] == i;
        if (grid->rank[i] == ctx->comm.rank) {
            grid->grid.coord[0] = i / extent[1];
            grid->grid.coord[1] = i % extent[1];
        }
    }
    if (regular) {
        hs_put(&ctx->memory, grid->rank);
        grid->grid.rank = grid->rank = NULL;
    }
    return HSUMMA_OK;
}

/* Makes the grid without communication.  Even after an error *result may be a grid, which the caller frees. */
static hsumma_status make_grid(hsumma_context *ctx, const int extent[2], char order, const int *ranks,
                               hsumma_grid **result)
{
    if (extent[0] < 1 || extent[1] < 1 || extent[0] > ctx->comm.size / extent[1])
        return hs_fail(
            &ctx->message, HSUMMA_ERR_ARGUMENT,
            "nprow is %d, npcol is %d; expected both at least 1, and nprow * npcol at most %d, the processes "
            "of the context",
            extent[0], extent[1], ctx->comm.size);
    if (order != 'R' && order != 'C' && order != 'A')
        return hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT, "order is '%c' (%d); expected 'R', 'C' or 'A'",
                       order >= 32 && order < 127 ? order : '?', order);
    hsumma_grid *grid = hs_get_zero(&ctx->memory, 1, sizeof *grid);
    int *rank = hs_get(&ctx->memory, (size_t)extent[0] * (size_t)extent[1], sizeof *rank);
    unsigned char *seen = hs_get_zero(&ctx->memory, (size_t)ctx->comm.size, 1);
    hsumma_status status = grid && rank && seen ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    if (grid)
        grid->rank = rank;
    else
        hs_put(&ctx->memory, rank);
    if (status)
        hs_fail(&ctx->message, status, "no memory for a grid");
    else
        status = list(ctx, ranks, extent[0] * extent[1], rank, seen);
    if (!status)
        status = place(ctx, extent, order, grid);
    hs_put(&ctx->memory, seen);
    *result = grid;
    return status;
}

/* A non-negative hash that identifies the grid. */
static int64_t hash_of(const struct hs_grid *grid)
{
    uint64_t hash = hs_mix(hs_mix(0, (uint64_t)grid->extent[0]), (uint64_t)grid->extent[1]);
    for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++)
        hash = hs_mix(hash, (uint64_t)hs_grid_rank(grid, i));
    return (int64_t)(hash >> 1);
}

/* Turns the verdict of the agreement on a grid into a status and a message (hs_context_judge). */
static hsumma_status judge(hsumma_context *ctx, hsumma_status mine, struct hs_verdict verdict, const hsumma_grid *made,
                           char order)
{
    const struct hs_grid *grid = made ? &made->grid : NULL;
    char ranks[128] = "";
    const char order_text[2] = {order};
    struct hs_given given[] = {
        {"nprow", .number = 0}, {"npcol", .number = 0}, {"order", .text = order_text}, {"ranks", .text = ranks}};
    if (!verdict.status && !verdict.alike) { /* every rank has made a grid, but they differ */
        given[0].number = grid->extent[0];
        given[1].number = grid->extent[1];
        given[3].number = hash_of(grid);
        for (int i = 0; i < grid->extent[0] * grid->extent[1]; i++)
            hs_append(ranks, sizeof ranks, "%s%d", i ? "," : "", hs_grid_rank(grid, i));
    }
    return hs_context_judge(ctx, mine, verdict, "hsumma_grid_create", given, sizeof given / sizeof *given);
}

hsumma_status hs_grid_create(hsumma_context *ctx, const int extent[2], char order, const int *ranks,
                             hsumma_grid **result)
{
    hsumma_grid *grid = NULL;
    *result = NULL;
    if (ctx->broken)
        return hs_context_refuse(ctx);
    hs_context_enter(ctx, HS_ENTERED_GRID, ++ctx->entered, 0);
    hsumma_status status = make_grid(ctx, extent, order, ranks, &grid);
    struct hs_verdict verdict =
        hs_context_agree(ctx, (struct hs_vote){.status = status, .hash = status ? 0 : hash_of(&grid->grid)});
    status = judge(ctx, status, verdict, grid, order);
    if (!status)
        status = hs_product_memory_make(ctx, &grid->shared);
    ctx->broken |= hs_status_is_final(status);
    if (status) {
        hs_put(&ctx->memory, grid ? grid->rank : NULL);
        hs_put(&ctx->memory, grid);
        return status;
    }
    grid->ctx = ctx;
    grid->holders = 1;
    grid->number = ctx->grids++;
    ctx->holders++;
    *result = grid;
    return HSUMMA_OK;
}
