/* The public calls of hsumma_coll.h that run collectives, and the list of algorithms. */
#include "coll/team/call.h"
#include "hsumma/context/context.h"

struct hsumma_request {
    hsumma_context *ctx;
    struct hs_ticket ticket;
};

static hsumma_status is_usable(hsumma_context *ctx)
{
    ctx->broken |= ctx->team.broken;
    if (ctx->team.failure.text[0])
        return hs_fail(&ctx->message, ctx->team.status,
                       "context unusable after an earlier error; free it and create another: %.400s",
                       ctx->team.failure.text);
    return ctx->broken ? hs_context_refuse(ctx) : HSUMMA_OK;
}

/* Returns the status of a collective; after an error sets the context's message. */
static hsumma_status ended(hsumma_context *ctx, hsumma_status status)
{
    ctx->broken |= ctx->team.broken;
    const char *why = ctx->team.failure.text[0] ? ctx->team.failure.text : hsumma_status_string(status);
    return status ? hs_fail(&ctx->message, status, "a collective ended early: %.400s; its result is undefined", why)
                  : HSUMMA_OK;
}

static hsumma_status start(hsumma_context *ctx, const hsumma_coll *from, struct hs_ticket *ticket)
{
    struct hs_call call;
    int about;
    hsumma_status status = is_usable(ctx);
    if (status)
        return status;
    hsumma_status mine = hs_call_read(from, ctx->comm.rank, ctx->comm.size, &call, &about, &ctx->message);
    hs_context_enter(ctx, mine ? HS_ENTERED_COLLECTIVE : HS_ENTERED_COLLECTIVE + (int)call.collective,
                     (uint64_t)ctx->team.number, 0);
    ctx->team.engaged = ctx->running != NULL;
    status = hs_team_start(&ctx->team, &call, mine, about, ticket, &ctx->message);
    ctx->broken |= ctx->team.broken;
    return status;
}

hsumma_status hsumma_coll_run(hsumma_context *ctx, const hsumma_coll *call)
{
    struct hs_ticket ticket;
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    hsumma_status status = start(ctx, call, &ticket);
    return status ? status : ended(ctx, ticket.done ? ticket.status : hs_team_wait(&ctx->team, &ticket));
}

hsumma_status hsumma_coll_start(hsumma_context *ctx, const hsumma_coll *call, hsumma_request **request)
{
    if (!request)
        return HSUMMA_ERR_ARGUMENT;
    *request = NULL;
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    hsumma_request *fresh = hs_get_zero(&ctx->memory, 1, sizeof *fresh);
    hsumma_status status = start(ctx, call, fresh ? &fresh->ticket : NULL);
    if (status) {
        hs_put(&ctx->memory, fresh);
        return status;
    }
    fresh->ctx = ctx;
    ctx->holders++;
    *request = fresh;
    return HSUMMA_OK;
}

hsumma_status hsumma_coll_test(hsumma_request *request, int *done)
{
    if (!done)
        return HSUMMA_ERR_ARGUMENT;
    *done = 1;
    if (!request)
        return HSUMMA_OK;
    if (!request->ticket.done)
        hs_team_test(&request->ctx->team, &request->ticket);
    if (!request->ticket.done)
        hs_stall_glance(request->ctx); /* a failure that it finds ends the call */
    *done = request->ticket.done;
    return *done ? ended(request->ctx, request->ticket.status) : HSUMMA_OK;
}

hsumma_status hsumma_coll_wait(hsumma_request **request)
{
    if (!request || !*request)
        return HSUMMA_OK;
    hsumma_context *ctx = (*request)->ctx;
    struct hs_ticket *ticket = &(*request)->ticket;
    hsumma_status status = ended(ctx, ticket->done ? ticket->status : hs_team_wait(&ctx->team, ticket));
    hs_put(&ctx->memory, *request);
    *request = NULL;
    hs_context_release(ctx);
    return status;
}

hsumma_status hsumma_coll_describe(hsumma_context *ctx, const hsumma_coll *from, char *text, size_t size)
{
    struct hs_call call;
    int about;
    if (text && size)
        text[0] = 0;
    if (!ctx || !text || !size)
        return HSUMMA_ERR_ARGUMENT;
    hsumma_status status = hs_call_read(from, ctx->comm.rank, ctx->comm.size, &call, &about, &ctx->message);
    return status ? status : hs_team_describe(&ctx->team, &call, text, size, &ctx->message);
}

hsumma_status hsumma_bcast(hsumma_context *ctx, void *buffer, int64_t bytes, int root)
{
    const hsumma_coll call = {.collective = HSUMMA_BCAST, .out = buffer, .count = bytes, .size = 1, .root = root};
    return hsumma_coll_run(ctx, &call);
}

hsumma_status hsumma_reduce(hsumma_context *ctx, const void *in, void *out, int64_t count, hsumma_element element,
                            hsumma_op op, int root)
{
    const hsumma_coll call = {.collective = HSUMMA_REDUCE,
                              .in = in,
                              .out = out,
                              .count = count,
                              .op = {.op = op, .element = element},
                              .root = root};
    return hsumma_coll_run(ctx, &call);
}

hsumma_status hsumma_allreduce(hsumma_context *ctx, const void *in, void *out, int64_t count, hsumma_element element,
                               hsumma_op op)
{
    const hsumma_coll call = {
        .collective = HSUMMA_ALLREDUCE, .in = in, .out = out, .count = count, .op = {.op = op, .element = element}};
    return hsumma_coll_run(ctx, &call);
}

hsumma_status hsumma_allgather(hsumma_context *ctx, const void *in, void *out, int64_t bytes)
{
    const hsumma_coll call = {.collective = HSUMMA_ALLGATHER, .in = in, .out = out, .count = bytes, .size = 1};
    return hsumma_coll_run(ctx, &call);
}

hsumma_status hsumma_reduce_scatter(hsumma_context *ctx, const void *in, void *out, int64_t count,
                                    hsumma_element element, hsumma_op op)
{
    const hsumma_coll call = {.collective = HSUMMA_REDUCE_SCATTER,
                              .in = in,
                              .out = out,
                              .count = count,
                              .op = {.op = op, .element = element}};
    return hsumma_coll_run(ctx, &call);
}

int hsumma_coll_algorithm(const hsumma_context *ctx, int i, hsumma_algorithm_info *info)
{
    static const struct {
        unsigned ours, theirs;
    } flags[] = {
        {HS_TRUE_ROOT, HSUMMA_TRUE_ROOT}, {HS_KEEPS_ORDER, HSUMMA_KEEPS_ORDER},
        {HS_UNIFORM, HSUMMA_UNIFORM},     {HS_KEEPS_ORDER_IF, HSUMMA_KEEPS_ORDER_ON_BLOCKS},
        {HS_USES_SHARED, HSUMMA_SHARED},  {HS_BY_MPI, HSUMMA_BY_MPI},
        {HS_EXACT_SUMS, HSUMMA_EXACT},
    };
    const struct hs_alg *alg = hs_alg_at_in(ctx ? &ctx->own : NULL, i);
    if (!alg)
        return 0;
    *info =
        (hsumma_algorithm_info){.collective = (hsumma_collective)alg->collective, .name = alg->name, .doc = alg->doc};
    hs_alg_parameters(alg, info->parameters, sizeof info->parameters);
    for (unsigned f = 0; f < sizeof flags / sizeof *flags; f++)
        info->flags |= alg->flags & flags[f].ours ? flags[f].theirs : 0;
    return 1;
}
