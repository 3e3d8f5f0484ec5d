/* The public calls on plans, and the one-call routines, which use cached plans. */
#include "api/context_parts.h"
#include "api/plan_cache.h"
#include "dist/bound.h"

#include <string.h>

hs_gemm *hs_gemm_to_measure(void)
{
    return hs_scalars[HSUMMA_D].gemm;
}

hsumma_status hsumma_plan_create(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m, int64_t n,
                                 int64_t k, const hsumma_desc *a, const hsumma_desc *b, const hsumma_desc *c,
                                 const char *options, hsumma_plan **plan)
{
    struct hs_request request = {.type = type,
                                 .op = {hs_upper(transa), hs_upper(transb), 'N'},
                                 .extent = {m, n, k},
                                 .desc = {a, b, c},
                                 .options = options};
    if (!plan)
        return HSUMMA_ERR_ARGUMENT;
    *plan = NULL;
    return !ctx ? HSUMMA_ERR_ARGUMENT : hs_plan_create(ctx, &request, 0, plan);
}

static void fill_levels(const struct hs_spec *spec, hsumma_plan_info *info)
{
    int by_node = spec->node != HS_NODE_MESSAGES; /* 1: one level, and no messages */
    info->nlevels = spec->levels;
    for (int l = 0; l < spec->levels; l++)
        info->level[l] = (hsumma_level){.rows = by_node ? info->nprow : spec->factors[0].size[l],
                                        .cols = by_node ? info->npcol : spec->factors[1].size[l],
                                        .block = spec->width[l],
                                        .bcast = by_node ? "none" : spec->bcast[l]->name,
                                        .reduce = by_node ? "none" : spec->reduce[l]->name};
}

/* Fills in the model's predictions for the plan in use and for its rivals. */
static void fill_predictions(const hsumma_plan *plan, const hsumma_plan *holder, hsumma_plan_info *info)
{
    const struct hs_prediction *prediction = &plan->choice.prediction;
    const struct hs_trial *trial = &holder->trial;
    info->predicted_seconds = prediction->seconds;
    info->predicted_comm_seconds = prediction->comm;
    info->predicted_gemm_seconds = prediction->gemm;
    info->predicted_copy_seconds = prediction->copy;
    memcpy(info->predicted_stationary, holder->ranking.stationary, sizeof info->predicted_stationary);
    hs_loop_count(&plan->loop, INT64_MAX, &info->predicted_messages_sent, &info->predicted_bytes_sent);
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

/* Fills in the times of the last execution; products inside a node send nothing. */
static void fill_times(const struct hs_times *times, int by_node, hsumma_plan_info *info)
{
    info->seconds = times->seconds;
    info->gemm_seconds = times->gemm;
    info->copy_seconds = times->copy;
    info->wait_seconds = times->wait;
    info->bytes_sent = by_node ? 0 : times->bytes;
    info->messages_sent = times->messages;
}

static double lower_bound_of(const hsumma_plan *plan)
{
    const struct hs_problem *problem = &plan->problem;
    const int64_t *extent = problem->extent, k = plan->sections ? plan->sections->k : extent[HS_K];
    return hs_bound_elements((const int64_t[3]){extent[HS_M], extent[HS_N], k},
                             problem->grid.extent[0] * problem->grid.extent[1], 0) *
           (double)problem->scalar->size;
}

/* Sets the communication time to everything that is neither GEMM nor copy. */
static void fill_communication(hsumma_plan_info *info)
{
    double rest = info->seconds - info->gemm_seconds - info->copy_seconds;
    info->comm_seconds = rest > 0 ? rest : 0;
}

static void fill_guard(const hsumma_plan *plan, hsumma_plan_info *info)
{
    if (!plan->guard)
        return;
    const struct hs_guard_figures *figures = hs_guard_figures(plan->guard);
    info->guard_checked = figures->checked;
    info->guard_found = figures->found;
    info->guard_repaired = figures->repaired;
    info->guard_unchecked = figures->unchecked;
    info->guard_seconds = figures->seconds;
}

/* Adds the figures of the other sections of a plan to those of the first. */
static void add_sections(const hsumma_plan *first, hsumma_plan_info *info)
{
    const struct hs_sections *sections = first->sections;
    info->nrivals = 0; /* they and these would be those of the first section */
    for (int x = 0; x < 3; x++)
        info->predicted_stationary[x] = -1;
    for (int i = 1; i < sections->count; i++) {
        hsumma_plan_info more;
        hsumma_plan_query(sections->plan[i], &more);
#define ADD(field) info->field += more.field
        ADD(panels), ADD(steps), ADD(steps_run);
        ADD(predicted_seconds), ADD(predicted_comm_seconds), ADD(predicted_gemm_seconds), ADD(predicted_copy_seconds);
        ADD(predicted_bytes_sent), ADD(predicted_messages_sent);
        ADD(seconds), ADD(gemm_seconds), ADD(copy_seconds), ADD(comm_seconds), ADD(wait_seconds);
        ADD(bytes_sent), ADD(messages_sent);
        ADD(guard_checked), ADD(guard_found), ADD(guard_repaired), ADD(guard_seconds);
        info->guard_unchecked =
            more.guard_unchecked > info->guard_unchecked ? more.guard_unchecked : info->guard_unchecked;
        for (int x = 0; x < 3; x++)
            ADD(operand[x].exchange_bytes), ADD(operand[x].exchange_seconds);
        info->workspace_bytes += sections->plan[i]->loop.arena_bytes;
#undef ADD
    }
}

/* Fills in the info of a layer's plan, plus the redistributions around it. */
static void query_layered(const hsumma_plan *plan, hsumma_plan_info *info)
{
    const struct hs_layered *layered = plan->layered;
    const int *extent = plan->grid->grid.extent;
    hsumma_plan_query(layered->inner, info);
    info->line = plan->line;
    info->why = plan->why;
    info->nprow = extent[0];
    info->npcol = extent[1];
    info->nrivals = 0;
    info->workspace_limit_bytes = (size_t)plan->ranking.workspace_limit;
    info->workspace_bytes = (size_t)hs_plan_bytes(plan);
    info->workspace_bytes_max = (size_t)plan->workspace_max;
    info->lower_bound_bytes = lower_bound_of(plan);
    info->seconds = layered->seconds;
    info->bytes_sent = layered->sent_bytes;
    info->messages_sent = layered->sent_messages;
    info->predicted_messages_sent += layered->messages;
    fill_guard(plan, info);
    fill_communication(info);
    for (int x = 0; x < 3; x++) {
        double seconds = layered->move_seconds[x];
        info->predicted_stationary[x] = -1;
        info->predicted_bytes_sent += layered->moved[x];
        info->predicted_seconds += seconds;
        info->predicted_comm_seconds += seconds;
        info->operand[x].exchange_bytes += (size_t)layered->moved[x];
        info->operand[x].exchange_seconds += seconds;
    }
}

void hsumma_plan_query(const hsumma_plan *holder, hsumma_plan_info *info)
{
    if (holder->layered) {
        query_layered(holder, info);
        return;
    }
    const struct hs_trial *trial = &holder->trial;
    const hsumma_plan *plan = trial->count ? trial->plan[trial->turn] : holder;
    const hsumma_plan *served = trial->count ? trial->plan[trial->served] : holder;
    const struct hs_plan_device *device = holder->device.serves ? &holder->device : NULL;
    const struct hs_choice *choice = device ? &device->choice : &plan->choice;
    const struct hs_spec *spec = &choice->spec;
    const struct hs_node_product *node = device ? &device->node : plan->by_node ? &plan->node : NULL;
    const struct hs_tier *outer = &plan->loop.panels.tier[0];
    int processes = plan->problem.grid.extent[0] * plan->problem.grid.extent[1];
    int rank = trial->count ? trial->rank[trial->turn] : 0;
    memset(info, 0, sizeof *info);
    /* the lines of the holder, because rivals are freed once they have lost */
    info->line = device ? device->line : rank ? holder->rival[rank - 1] : holder->line;
    info->why = holder->why;
    info->stationary = "ABC"[spec->stationary];
    info->nprow = plan->grid->grid.extent[0];
    info->npcol = plan->grid->grid.extent[1];
    info->threads = spec->threads;
    info->workspace_limit_bytes = (size_t)holder->ranking.workspace_limit;
    info->local = !device ? hs_plan_maker(plan) : plan->member ? plan->ctx->device->kind->name : "none";
    fill_levels(spec, info);
    info->node =
        !node && processes == 1 ? "alone" : hs_option_word(HS_OPT_NODE, spec->cells ? HS_NODE_SHARED : spec->node);
    info->chunk = node && spec->chunked >= 0 ? spec->chunk : 0;
    info->lookahead = spec->lookahead;
    info->segment = spec->segment;
    info->panels = node ? node->panels : plan->loop.panels.count;
    info->steps = node || !plan->member ? 0 : outer->count;
    info->steps_run = node || !plan->member ? 0 : outer->of[plan->loop.panels.run];
    info->workspace_bytes = (size_t)(device ? device->bytes / processes : hs_plan_bytes(plan));
    info->workspace_bytes_max = device ? info->workspace_bytes : (size_t)plan->workspace_max;
    info->profile = plan->ctx->profile.source;
    info->lower_bound_bytes = lower_bound_of(plan);
    memcpy(info->operand, choice->prediction.operand, sizeof info->operand);
    if (device) { /* the model does not predict products on devices */
        info->tuned = "estimated";
        for (int x = 0; x < 3; x++)
            info->predicted_stationary[x] = -1;
        fill_times(&device->node.last, 1, info);
        info->seconds = device->seconds;
    } else {
        fill_predictions(plan, holder, info);
        fill_times(served->by_node ? &served->node.last : &served->loop.last, served->by_node, info);
    }
    fill_guard(plan, info);
    fill_communication(info);
    if (hs_sections_lead(plan))
        add_sections(plan, info);
}

hsumma_status hsumma_plan_start(hsumma_plan *plan, const void *alpha, const void *a, const void *b, const void *beta,
                                void *c)
{
    const void *const data[3] = {a, b, c};
    int64_t ld[3];
    if (!plan)
        return HSUMMA_ERR_ARGUMENT;
    for (int x = 0; x < 3; x++)
        ld[x] = plan->problem.view[x].ld;
    return hs_plan_start(plan, alpha, data, ld, beta);
}

hsumma_status hsumma_plan_test(hsumma_plan *plan, int *done)
{
    return !plan || !done ? HSUMMA_ERR_ARGUMENT : hs_plan_test(plan, done);
}

hsumma_status hsumma_plan_wait(hsumma_plan *plan)
{
    return !plan ? HSUMMA_ERR_ARGUMENT : hs_plan_wait(plan);
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

/* With check=always: compares the arguments of all processes. */
static hsumma_status compare_arguments(hsumma_context *ctx, const struct hs_request *request, const void *alpha,
                                       const void *beta)
{
    struct hs_request compared = *request;
    hsumma_status status = hs_context_check_free(ctx);
    if (status || !ctx->options.settings.check_always)
        return status;
    compared.scalar[0] = alpha;
    compared.scalar[1] = beta;
    return hs_request_compare(ctx, &compared, hs_request_check(request, ctx, &ctx->message));
}

static hsumma_status one_call(hsumma_context *ctx, const struct hs_request *request, const void *alpha, const void *a,
                              const void *b, const void *beta, void *c)
{
    hsumma_plan *plan;
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    hsumma_status status = compare_arguments(ctx, request, alpha, beta);
    if (!status)
        status = hs_plan_cached(ctx, request, &plan);
    if (status)
        return status;
    const void *const data[3] = {a, b, c};
    const int64_t ld[3] = {request->desc[0]->ld, request->desc[1]->ld, request->desc[2]->ld};
    status = hs_plan_start(plan, alpha, data, ld, beta);
    return status ? status : hs_plan_wait(plan);
}

/* alpha and beta are passed by value for real types, else by pointer. */
#define ONE_CALL(name, code, scalar, element, address)                                                               \
    hsumma_status name(hsumma_context *ctx, char transa, char transb, int64_t m, int64_t n, int64_t k, scalar alpha, \
                       const element *a, const hsumma_desc *desca, const element *b, const hsumma_desc *descb,       \
                       scalar beta, element *c, const hsumma_desc *descc)                                            \
    {                                                                                                                \
        const struct hs_request request = {.type = code,                                                             \
                                           .op = {hs_upper(transa), hs_upper(transb), 'N'},                          \
                                           .extent = {m, n, k},                                                      \
                                           .desc = {desca, descb, descc}};                                           \
        return one_call(ctx, &request, address alpha, a, b, address beta, c);                                        \
    }

ONE_CALL(hsumma_sgemm, HSUMMA_S, float, float, &)
ONE_CALL(hsumma_dgemm, HSUMMA_D, double, double, &)
ONE_CALL(hsumma_cgemm, HSUMMA_C, const void *, void, )
ONE_CALL(hsumma_zgemm, HSUMMA_Z, const void *, void, )
