#include "hsumma/context/workspace.h"

int64_t hs_workspace_limit(const struct hs_part *limit, const struct hs_view *view, int views, size_t size)
{
    double elements = 0;
    if (limit->bytes)
        return limit->bytes;
    for (int i = 0; i < views; i++)
        elements += (double)hs_axis_count_max(&view[i].axis[0]) * (double)hs_axis_count_max(&view[i].axis[1]);
    double bytes = elements * (double)size * limit->share;
    return bytes < HS_WORKSPACE_FLOOR ? HS_WORKSPACE_FLOOR : bytes > 9e18 ? INT64_MAX : (int64_t)bytes;
}

hsumma_status hs_workspace_want(hsumma_context *ctx, size_t bytes)
{
    if (!ctx->workspace || ctx->workspace->bytes < bytes) {
        struct hs_workspace *larger = hs_get_zero(&ctx->memory, 1, sizeof *larger);
        char *base = hs_get(&ctx->bulk, bytes ? bytes : 1, 1);
        if (!larger || !base) {
            hs_put(&ctx->memory, larger);
            hs_put(&ctx->bulk, base);
            return HSUMMA_ERR_MEMORY;
        }
        *larger = (struct hs_workspace){.holders = 1, .bytes = bytes, .base = base};
        hs_workspace_release(ctx, ctx->workspace);
        ctx->workspace = larger;
    }
    ctx->plans++;
    return HSUMMA_OK;
}

void hs_workspace_leave(hsumma_context *ctx)
{
    if (--ctx->plans > 0)
        return;
    hs_workspace_release(ctx, ctx->workspace);
    ctx->workspace = NULL;
}

struct hs_workspace *hs_workspace_hold(struct hs_workspace *workspace)
{
    workspace->holders++;
    return workspace;
}

void hs_workspace_release(hsumma_context *ctx, struct hs_workspace *workspace)
{
    if (!workspace || --workspace->holders > 0)
        return;
    hs_put(&ctx->bulk, workspace->base);
    hs_put(&ctx->memory, workspace);
}
