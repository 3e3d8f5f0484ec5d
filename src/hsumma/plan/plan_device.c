#include "hsumma/plan/plan_device.h"

#include "hsumma/plan/plan.h"
#include "hsumma/search/search_node.h"

#include <stdio.h>
#include <string.h>

/* The tiles of a grid may use 1 / TILES_PART of a device's memory. */
enum { TILES_PART = 32 };

/* The reason why products of the plan cannot run on devices; NULL if they can. */
static const char *obstacle(const hsumma_plan *plan, const struct hs_request *request,
                            const struct hs_settings *settings)
{
    const hsumma_context *ctx = plan->ctx;
    if (request->alone)
        return "not supported by p?gemm";
    if (settings->for_messages)
        return "options of host products are given: groups, levels, outer, turn, bcast, reduce, exchange, segment, "
               "lookahead, owners or slice";
    if (settings->node != HS_NODE_AUTO && settings->node != HS_NODE_DEVICE)
        return "options of host products are given: node";
    if (!ctx->profile.one_node)
        return "the processes are on several nodes";
    if (!plan->grid->shared.bytes)
        return plan->grid->shared.refused;
    return ctx->no_tiles.text[0] ? ctx->no_tiles.text : NULL;
}

/* The maximum bytes of tiles, by the caller's limit and the smallest device's memory. */
static int64_t limit_of(const hsumma_plan *plan, const struct hs_options *options)
{
    const int *extent = plan->problem.grid.extent;
    int64_t most = plan->ctx->device_bytes / TILES_PART, processes = extent[0] * extent[1];
    int64_t said = plan->ranking.workspace_limit;
    if (options->said_by[HS_OPT_WORKSPACE_LIMIT] == HS_BY_DEFAULT || said > most / processes)
        return most;
    return said * processes;
}

hsumma_status hs_plan_device_prepare(hsumma_plan *plan, const struct hs_request *request,
                                     const struct hs_settings *settings, const struct hs_options *options,
                                     struct hs_message *message)
{
    struct hs_plan_device *on = &plan->device;
    hsumma_context *ctx = plan->ctx;
    int asked = settings->node == HS_NODE_DEVICE;
    if (!ctx->device)
        return asked ? hs_fail(
                           message, HSUMMA_ERR_UNSUPPORTED,
                           "node=device: the context has no device; expected node=auto, or a context with device=cuda")
                     : HSUMMA_OK;
    if (request->choice) /* a rival in a trial, which has no device part */
        return HSUMMA_OK;
    on->why_not = obstacle(plan, request, settings);
    if (on->why_not)
        return asked ? hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "node=device: %s; expected node=auto", on->why_not)
                     : HSUMMA_OK;
    hsumma_status status =
        hs_choose_device(&plan->problem, settings, limit_of(plan, options), &on->choice, &on->bytes, message);
    if (status && (asked || hs_is_own_failure(status)))
        return status;
    if (status) {
        snprintf(on->reason, sizeof on->reason, "%s", message->text);
        on->why_not = on->reason;
        message->text[0] = 0;
        return HSUMMA_OK;
    }
    on->choice.spec.threads = plan->choice.spec.threads;
    if (plan->member)
        status =
            hs_node_init(&on->node, &plan->problem, &on->choice.spec, plan->grid->shared.mates, &ctx->memory, message);
    on->possible = on->serves = !status;
    return status;
}

hsumma_status hs_plan_device_join(hsumma_plan *plan, const struct hs_settings *settings)
{
    struct hs_plan_device *on = &plan->device;
    hsumma_context *ctx = plan->ctx;
    if (!on->possible)
        return HSUMMA_OK;
    hsumma_status status =
        hs_device_tiles_grow(ctx, &plan->grid->on_device, hs_grid_rank(&plan->grid->grid, 0), (size_t)on->bytes);
    if (status != HSUMMA_ERR_DEVICE && status != HSUMMA_ERR_MEMORY)
        return status;
    on->possible = on->serves = 0;
    snprintf(on->reason, sizeof on->reason, "%s: %.400s",
             status == HSUMMA_ERR_DEVICE ? "devices cannot share memory" : "no device memory for tiles",
             ctx->message.text);
    on->why_not = on->reason;
    if (status == HSUMMA_ERR_DEVICE) /* the reason applies to later plans too */
        hs_fail(&ctx->no_tiles, status, "%s", on->reason);
    if (settings->node == HS_NODE_DEVICE)
        return hs_fail(&ctx->message, status == HSUMMA_ERR_DEVICE ? HSUMMA_ERR_UNSUPPORTED : status,
                       "node=device: %.440s; expected node=auto", on->reason);
    ctx->message.text[0] = 0;
    return HSUMMA_OK;
}
