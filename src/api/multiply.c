/* The public calls on plans, and the one-call routines on cached ones. */
#include "api/plan_cache.h"

#include <string.h>

hsumma_status hsumma_plan_create(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m, int64_t n,
                                 int64_t k, const hsumma_desc *a, const hsumma_desc *b, const hsumma_desc *c,
                                 const char *options, hsumma_plan **plan)
{
    struct hs_request request = {
        .type = type, .op = {transa, transb, 'N'}, .extent = {m, n, k}, .desc = {a, b, c}, .options = options};
    return hs_plan_create(ctx, &request, 0, plan);
}

static void fill_levels(const hsumma_plan *plan, hsumma_plan_info *info)
{
    const struct hs_spec *spec = &plan->choice.spec;
    info->nlevels = spec->levels;
    if (plan->by_node) {
        info->level[0] = (hsumma_level){
            .rows = info->nprow, .cols = info->npcol, .block = spec->width[0], .bcast = "none", .reduce = "none"};
        return;
    }
    for (int l = 0; l < spec->levels; l++)
        info->level[l] = (hsumma_level){.rows = spec->factors[0].size[l],
                                        .cols = spec->factors[1].size[l],
                                        .block = spec->width[l],
                                        .bcast = spec->bcast[l]->name,
                                        .reduce = spec->reduce[l]->name};
}

/* What the model says of the plan that serves, and of those that do not. */
static void fill_predictions(const hsumma_plan *plan, const hsumma_plan *holder, hsumma_plan_info *info)
{
    const struct hs_prediction *prediction = &plan->choice.prediction;
    const struct hs_trial *trial = &holder->trial;
    info->predicted_seconds = prediction->seconds;
    info->predicted_comm_seconds = prediction->comm;
    info->predicted_gemm_seconds = prediction->gemm;
    info->predicted_copy_seconds = prediction->copy;
    memcpy(info->operand, prediction->operand, sizeof info->operand);
    memcpy(info->predicted_stationary, holder->ranking.stationary, sizeof info->predicted_stationary);
    hs_plan_traffic(plan, &info->predicted_bytes_sent, &info->predicted_messages_sent);
    info->lower_bound_bytes = hs_lower_bound(&plan->problem);
    info->profile = plan->ctx->profile.source;
    info->tuned = trial->count       ? trial->decided ? "measured" : "measuring"
                  : plan->remembered ? "remembered"
                                     : "estimated";
    for (int i = 0; i < holder->ranking.count && info->nrivals < HSUMMA_MAX_RIVALS; i++) {
        double measured = 0;
        for (int t = 0; t < trial->count; t++)
            measured = trial->rank[t] == i ? trial->seconds[t] : measured;
        if (i == (trial->count ? trial->rank[trial->turn] : 0))
            continue;
        info->rival[info->nrivals++] = (hsumma_rival){.line = i ? holder->rival[i - 1] : holder->line,
                                                      .seconds = holder->ranking.choice[i].prediction.seconds,
                                                      .measured = measured};
    }
}

/* What the last execution has taken. */
static void fill_times(const hsumma_plan *plan, hsumma_plan_info *info)
{
    const struct hs_loop_times *times = &plan->loop.last;
    info->seconds = times->seconds;
    info->gemm_seconds = times->gemm;
    info->copy_seconds = times->copy;
    if (plan->by_node) {
        const struct hs_node_times *shared = &plan->node.last;
        info->seconds = shared->seconds;
        info->gemm_seconds = shared->gemm;
        info->copy_seconds = shared->copy;
        info->wait_seconds = shared->wait;
    }
    double rest = info->seconds - info->gemm_seconds - info->copy_seconds;
    info->comm_seconds = rest > 0 ? rest : 0;
    info->bytes_sent = times->bytes;
    info->messages_sent = times->messages;
}

/* Where it runs on devices: what is otherwise there. */
static void fill_device(const hsumma_plan *plan, hsumma_plan_info *info)
{
    const struct hs_plan_device *device = &plan->device;
    const struct hs_spec *spec = &device->choice.spec;
    const struct hs_node_times *times = &device->node.last;
    int processes = plan->problem.grid.extent[0] * plan->problem.grid.extent[1];
    info->line = device->line;
    info->stationary = "ABC"[spec->stationary];
    info->nlevels = spec->levels;
    info->level[0] = (hsumma_level){
        .rows = info->nprow, .cols = info->npcol, .block = spec->width[0], .bcast = "none", .reduce = "none"};
    info->node = hs_option_word(HS_OPT_NODE, HS_NODE_DEVICE);
    info->lookahead = spec->lookahead;
    info->segment = spec->segment;
    info->panels = device->node.panels;
    info->workspace_bytes = info->workspace_bytes_max = (size_t)(device->bytes / processes);
    info->tuned = "estimated";
    info->profile = plan->ctx->profile.source;
    info->lower_bound_bytes = hs_lower_bound(&plan->problem);
    memcpy(info->operand, device->choice.prediction.operand, sizeof info->operand);
    for (int x = 0; x < 3; x++)
        info->predicted_stationary[x] = -1;
    info->seconds = device->seconds;
    info->gemm_seconds = times->gemm;
    info->copy_seconds = times->copy;
    info->wait_seconds = times->wait;
    double rest = info->seconds - info->gemm_seconds - info->copy_seconds;
    info->comm_seconds = rest > 0 ? rest : 0;
}

void hsumma_plan_query(const hsumma_plan *holder, hsumma_plan_info *info)
{
    const hsumma_plan *plan = holder->trial.count ? holder->trial.plan[holder->trial.turn] : holder;
    const struct hs_spec *spec = &plan->choice.spec;
    memset(info, 0, sizeof *info);
    int rank = holder->trial.count ? holder->trial.rank[holder->trial.turn] : 0;
    info->line = rank ? holder->rival[rank - 1] : holder->line; /* rivals go when they have lost, the holder stays */
    info->why = holder->why;
    info->stationary = "ABC"[spec->stationary];
    info->nprow = plan->grid->grid.extent[0];
    info->npcol = plan->grid->grid.extent[1];
    info->threads = spec->threads;
    info->workspace_limit_bytes = (size_t)holder->ranking.workspace_limit;
    if (!holder->device.serves)
        info->local = hs_plan_maker(plan);
    else
        info->local = plan->member ? plan->ctx->device->kind->name : "none";
    if (holder->device.serves) {
        fill_device(holder, info);
        return;
    }
    fill_levels(plan, info);
    int processes = plan->problem.grid.extent[0] * plan->problem.grid.extent[1];
    info->node = !plan->by_node && processes == 1 ? "alone" : hs_option_word(HS_OPT_NODE, spec->node);
    info->chunk = plan->by_node && spec->chunked >= 0 ? spec->chunk : 0;
    info->lookahead = spec->lookahead;
    info->segment = spec->segment;
    info->panels = plan->by_node ? plan->node.panels : plan->loop.panels.count;
    info->workspace_bytes = (size_t)hs_plan_bytes(plan);
    info->workspace_bytes_max = (size_t)plan->workspace_max;
    fill_predictions(plan, holder, info);
    fill_times(holder->trial.count ? holder->trial.plan[holder->trial.served] : holder, info);
}

hsumma_status hsumma_plan_start(hsumma_plan *plan, const void *alpha, const void *a, const void *b, const void *beta,
                                void *c)
{
    const void *const data[3] = {a, b, c};
    int64_t ld[3];
    for (int x = 0; x < 3; x++)
        ld[x] = plan->problem.view[x].ld;
    return hs_plan_start(plan, alpha, data, ld, beta);
}

hsumma_status hsumma_plan_test(hsumma_plan *plan, int *done)
{
    return hs_plan_test(plan, done);
}

hsumma_status hsumma_plan_wait(hsumma_plan *plan)
{
    return hs_plan_wait(plan);
}

hsumma_status hsumma_plan_execute(hsumma_plan *plan, const void *alpha, const void *a, const void *b, const void *beta,
                                  void *c)
{
    hsumma_status status = hsumma_plan_start(plan, alpha, a, b, beta, c);
    if (!status)
        status = hs_plan_wait(plan);
    if (!status)
        hs_trial_remember(plan);
    return status;
}

void hsumma_plan_free(hsumma_plan **plan)
{
    if (!plan || !*plan)
        return;
    hs_plan_destroy(*plan);
    *plan = NULL;
}

static hsumma_status one_call(hsumma_context *ctx, const struct hs_request *request, const void *alpha, const void *a,
                              const void *b, const void *beta, void *c)
{
    hsumma_plan *plan;
    hsumma_status status = hs_plan_cached(ctx, request, &plan);
    if (status)
        return status;
    const void *const data[3] = {a, b, c};
    const int64_t ld[3] = {request->desc[0]->ld, request->desc[1]->ld, request->desc[2]->ld};
    status = hs_plan_start(plan, alpha, data, ld, beta);
    return status ? status : hs_plan_wait(plan);
}

/* alpha and beta come by value where C has the type, else by pointer. */
#define ONE_CALL(name, code, scalar, element, address)                                                               \
    hsumma_status name(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k, scalar alpha, \
                       const element *a, const hsumma_desc *desca, const element *b, const hsumma_desc *descb,       \
                       scalar beta, element *c, const hsumma_desc *descc)                                            \
    {                                                                                                                \
        const struct hs_request request = {                                                                          \
            .type = code, .op = {transa, transb, 'N'}, .extent = {m, n, k}, .desc = {desca, descb, descc}};          \
        return one_call(ctx, &request, address alpha, a, b, address beta, c);                                        \
    }

ONE_CALL(hsumma_sgemm, HSUMMA_S, float, float, &)
ONE_CALL(hsumma_dgemm, HSUMMA_D, double, double, &)
ONE_CALL(hsumma_cgemm, HSUMMA_C, const void *, void, )
ONE_CALL(hsumma_zgemm, HSUMMA_Z, const void *, void, )
