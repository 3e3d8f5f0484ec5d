/* Grids that exist only on this process, for predictions of the cost of plans on them. */
#include "hsumma/context/context.h"
#include "hsumma/context/tiling.h"

hsumma_status hs_imagine_grid(hsumma_context *ctx, const int extent[2], int *rank, hsumma_grid *grid)
{
    const struct hs_topology *topology = &ctx->comm.topology;
    int one_node = ctx->profile.one_node && ctx->comm.size > 1, known = topology->size >= extent[0] * extent[1];
    int several = known && topology->division[HS_NODE].parts > 1;
    *grid = (hsumma_grid){.ctx = ctx,
                          .holders = 2, /* the caller, and one more so that the grid is never freed */
                          .grid = {.extent = {extent[0], extent[1]}, .coord = {-1, -1}, .rank = rank},
                          .rank = rank};
    if (hs_grid_order(extent, 'A', known ? topology : NULL, rank, &ctx->memory))
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for a grid of %d processes", extent[0] * extent[1]);
    if (one_node || several)
        grid->shared.bytes = (size_t)ctx->tile_bytes;
    if (one_node)
        grid->shared.directory.ranks = ctx->comm.size;
    return HSUMMA_OK;
}
