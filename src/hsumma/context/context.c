#include "hsumma/context/context.h"

struct hs_axis hs_desc_axis(const hsumma_desc *desc, int axis)
{
    const struct hs_grid *grid = &desc->grid->grid;
    return axis == 0 ? hs_axis_make(desc->m, desc->mb, desc->imb, desc->rsrc, grid->extent[0])
                     : hs_axis_make(desc->n, desc->nb, desc->inb, desc->csrc, grid->extent[1]);
}

int64_t hs_desc_local(const hsumma_desc *desc, int axis)
{
    if (!desc->grid || desc->grid->grid.coord[axis] < 0)
        return 0;
    struct hs_axis it = hs_desc_axis(desc, axis);
    return it.n > 0 && it.nb > 0 && it.first > 0 ? hs_axis_count(&it, desc->grid->grid.coord[axis]) : 0;
}

hsumma_desc hs_desc_make(const hsumma_grid *grid, int64_t m, int64_t n, int64_t mb, int64_t nb)
{
    hsumma_desc desc = {.grid = grid, .m = m, .n = n, .mb = mb, .nb = nb, .imb = mb, .inb = nb};
    int64_t rows = hs_desc_local(&desc, 0);
    desc.ld = rows > 1 ? rows : 1;
    return desc;
}

struct hs_verdict hs_context_agree(hsumma_context *ctx, struct hs_vote vote)
{
    struct hs_verdict verdict = hs_agree(&ctx->agreement, vote);
    ctx->broken |= hs_status_is_final(verdict.status) || ctx->agreement.instance.active;
    return verdict;
}

static struct hs_verdict agree_again(void *ctx, struct hs_vote vote)
{
    return hs_context_agree(ctx, vote);
}

hsumma_status hs_context_judge(hsumma_context *ctx, hsumma_status mine, struct hs_verdict verdict, const char *call,
                               const struct hs_given *given, int count)
{
    const struct hs_voters voters = {.agree = agree_again, .state = ctx, .rank = ctx->comm.rank};
    if (hs_status_is_final(verdict.status) && !mine && verdict.rank == ctx->comm.rank) /* the agreement has failed */
        return hs_context_ended_early(ctx, verdict.status, call);
    if (verdict.status)
        return hs_unlike_report(&voters, mine, verdict, &ctx->message);
    return verdict.alike ? HSUMMA_OK : hs_unlike_explain(&voters, call, given, count, &ctx->message);
}

hsumma_status hs_context_device_said(hsumma_context *ctx, hsumma_status status)
{
    return status ? hs_fail(&ctx->message, status, "process %d: %s", ctx->comm.rank, ctx->device->message.text)
                  : HSUMMA_OK;
}

hsumma_status hs_context_ended_early(hsumma_context *ctx, hsumma_status status, const char *call)
{
    const char *why = hs_roster_why(&ctx->comm.roster, status);
    if (status == HSUMMA_ERR_PEER) /* by MPI's word: later calls return it, too */
        hs_roster_give_up(&ctx->comm.roster, status, why);
    return hs_fail(&ctx->message, status, "%s ended early: %.400s", call, why);
}

hsumma_status hs_context_refuse(hsumma_context *ctx)
{
    const struct hs_roster *roster = &ctx->comm.roster;
    return hs_fail(&ctx->message, roster->failed ? roster->failed : HSUMMA_ERR_MPI,
                   "context unusable %s; free it and create another%s%.350s",
                   roster->failed == HSUMMA_ERR_PEER ? "without a process that has left it"
                                                     : "after an earlier MPI or device error",
                   roster->failed ? ": " : "", roster->why.text);
}

hsumma_status hs_context_check_free(hsumma_context *ctx)
{
    if (ctx->running)
        return hs_fail(&ctx->message, HSUMMA_ERR_BUSY,
                       "a plan of this context is running; complete it with hsumma_plan_wait first");
    if (ctx->broken)
        return hs_context_refuse(ctx);
    return HSUMMA_OK;
}

void hs_context_release(hsumma_context *ctx)
{
    if (--ctx->holders == 0)
        ctx->destroy(ctx);
}

void hs_grid_release(hsumma_grid *grid)
{
    if (--grid->holders > 0)
        return;
    hsumma_context *ctx = grid->ctx;
    hs_product_memory_free(ctx, &grid->shared);
    hs_device_tiles_leave(ctx, &grid->on_device, grid->number);
    hs_put(&ctx->memory, grid->rank);
    hs_put(&ctx->memory, grid);
    hs_context_release(ctx);
}
