#include "hsumma/plan/plan.h"

#include "base/simulator.h"
#include "hsumma/search/candidate.h"
#include "hsumma/search/search_node.h"
#include "summa/messages/mpi_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Checks that local extents fit into the 32-bit integers of the BLAS. */
static hsumma_status check_blas_limits(const struct hs_problem *problem, struct hs_message *message)
{
    for (int x = 0; x < 3; x++)
        for (int axis = 0; axis < 2; axis++)
            if (hs_axis_count_max(&problem->view[x].axis[axis]) > INT32_MAX)
                return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                               "%c has %" PRId64
                               " local %s on a process; expected at most 2^31 - 1, the limit of the BLAS: use a grid "
                               "with more %s or a smaller %s",
                               "ABC"[x], hs_axis_count_max(&problem->view[x].axis[axis]), axis ? "columns" : "rows",
                               axis ? "columns" : "rows", axis ? "nb" : "mb");
    return HSUMMA_OK;
}

hsumma_status hs_plan_check_local(const hsumma_plan *plan, const int64_t ld[3], struct hs_message *message, int *about)
{
    const int *coord = plan->grid->grid.coord;
    for (int x = 0; x < 3; x++) {
        int64_t least = plan->local_rows[x] > 1 ? plan->local_rows[x] : 1;
        if (ld[x] >= least && ld[x] <= INT32_MAX)
            continue;
        *about = HS_ABOUT_A + x;
        return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                       "leading dimension of %c is %" PRId64 " on process (%d,%d); expected %" PRId64 " to 2^31 - 1",
                       "ABC"[x], ld[x], coord[0], coord[1], least);
    }
    return HSUMMA_OK;
}

/* Sets *count to the number of layers for layers=auto, equal on all processes; 1 unless another number is clearly
 * faster. */
static hsumma_status choose_layers(const hsumma_plan *plan, const struct hs_request *request,
                                   const struct hs_settings *settings, int *count)
{
    *count = 1;
    if (plan->layered || plan->by_node || plan->remembered || request->layers || request->alone || request->choice ||
        !hs_layered_may_choose(plan->ctx, settings))
        return HSUMMA_OK;
    const struct hs_prediction *one = &plan->choice.prediction;
    hsumma_status status =
        hs_layered_choose(plan->ctx, request, settings, (struct hs_layered_rival){one->seconds, one->gemm, 0}, count);
    struct hs_given chosen = {"layers", .number = *count, .chosen = 1};
    struct hs_verdict verdict =
        hs_context_agree(plan->ctx, (struct hs_vote){.status = status, .hash = status ? 0 : *count});
    status = hs_context_judge(plan->ctx, status, verdict, "layers=auto", &chosen, 1);
    if (status == HSUMMA_ERR_MEMORY) { /* on all processes, which have a plan without layers */
        *count = 1;
        return HSUMMA_OK;
    }
    return status;
}

/* Restricts the search to one level if leave_idle has made the grid smaller, because a plan's line cannot express a
 * hierarchy of a smaller grid.  Options of the caller for levels take precedence. */
static void keep_to_one_level(const hsumma_plan *plan, struct hs_settings *settings)
{
    if (plan->ranks && settings->levels < 0 && !settings->outer.count && settings->bcast.count < 2 &&
        settings->reduce.count < 2)
        settings->levels = 0;
}

/* hs_choose, and the even division of the work.  A process that plans alone (p?gemm) does not engage processes that own
 * nothing, because PBLAS makes no process wait for one whose matrices it does not need. */
static hsumma_status choose_by_model(hsumma_plan *plan, const struct hs_request *request,
                                     const struct hs_subject *subject, const struct hs_settings *settings,
                                     const struct hs_planner *planner, struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;
    plan->ranking.count = 0;
    if (settings->node != HS_NODE_EVEN)
        status = hs_choose(&subject->without_idle, settings, planner, &plan->ranking, message);
    int may = settings->node == HS_NODE_AUTO && !(request->alone && plan->ranks);
    if (!status && (may || settings->node == HS_NODE_EVEN))
        status = hs_choose_even(&subject->whole, settings, planner, &plan->ranking, message);
    return status;
}

/* Sets the plan's ranking to the request's choice, to the remembered choice if the caller's options permit it, or to
 * the model's choices. */
static hsumma_status choose(hsumma_plan *plan, const struct hs_request *request, const struct hs_subject *subject,
                            const struct hs_settings *settings, struct hs_options *options, struct hs_message *message)
{
    hsumma_context *ctx = plan->ctx;
    struct hs_options remembered;
    struct hs_settings host = *settings;
    /* an imagined grid may have more processes than the topology */
    const int *extent = plan->grid->grid.extent, processes = extent[0] * extent[1];
    struct hs_planner planner = {.memo = &ctx->memo,
                                 .topology = ctx->comm.topology.size >= processes ? &ctx->comm.topology : NULL,
                                 .own = &ctx->own,
                                 .coll = &ctx->team.selector.coll,
                                 .tuned = &ctx->team.selector.tuned,
                                 .threads = settings->bits          ? 1
                                            : settings->threads > 0 ? settings->threads
                                                                    : ctx->threads_model,
                                 .sharing = {.bytes = plan->grid->shared.bytes,
                                             .in_place = ctx->allocations.first != NULL,
                                             .refused = plan->grid->shared.refused},
                                 .memory = &ctx->memory,
                                 .only_best = request->silent && settings->tune != HS_TUNE_MEASURE};
    if (request->choice) {
        plan->ranking.choice[plan->ranking.count++] = *request->choice;
        return HSUMMA_OK;
    }
    if (!request->afresh && !settings->bits && hs_trial_recall(ctx, request, options, &remembered)) {
        keep_to_one_level(plan, &remembered.settings);
        hsumma_status status = choose_by_model(plan, request, subject, &remembered.settings, &planner, message);
        plan->remembered = status == HSUMMA_OK;
        if (plan->remembered)
            *options = remembered;
        if (plan->remembered || hs_is_own_failure(status)) /* other processes may execute the remembered plan */
            return status;
        snprintf(plan->not_recalled, sizeof plan->not_recalled, "%.*s", (int)sizeof plan->not_recalled - 1,
                 message->text[0] ? message->text : hsumma_status_string(status));
    }
    host.node = settings->node == HS_NODE_DEVICE ? HS_NODE_AUTO : settings->node;
    keep_to_one_level(plan, &host);
    uint64_t key;
    if (hs_choice_recall(plan, request, &host, &planner, &key))
        return HSUMMA_OK;
    int found;
    hsumma_status status = hs_class_choice(plan, request, subject, &host, &planner, message, &found);
    if (status || found)
        return status;
    status = choose_by_model(plan, request, subject, &host, &planner, message);
    if (!status)
        hs_choice_keep(plan, key);
    return status;
}

hsumma_status hs_plan_agreement_init(const hsumma_plan *plan, struct hs_agreement *agreement,
                                     enum hs_agreement_number number)
{
    struct hs_directory *directory = &plan->grid->shared.directory;
    struct hs_group all = hs_grid_all(&plan->grid->grid);
    return hs_agreement_init(agreement, &plan->ctx->comm, &all, directory->entry ? directory : NULL, number,
                             &plan->ctx->memory);
}

/* Does all local work of the creation.  Sets *about to the subject of a failure. */
static hsumma_status prepare(hsumma_plan *plan, const struct hs_request *request, const struct hs_subject *subject,
                             const struct hs_settings *settings, struct hs_options *options, struct hs_message *message,
                             int *about)
{
    hsumma_context *ctx = plan->ctx;
    int64_t ld[3] = {request->desc[0]->ld, request->desc[1]->ld, request->desc[2]->ld};
    *about = HS_ABOUT_NOTHING;
    hsumma_status status = check_blas_limits(&plan->problem, message);
    if (!status && plan->layered)
        status = hs_layered_prepare(plan, request, settings, message);
    else if (!status)
        status = choose(plan, request, subject, settings, options, message);
    if (status)
        return status;
    if (!plan->layered)
        plan->choice = plan->ranking.choice[0];
    if (plan->choice.spec.node == HS_NODE_EVEN) { /* engages all processes of the grid */
        hs_plan_problem(request, settings, &plan->scalar, &plan->problem);
        plan->member = plan->in_grid;
    }
    plan->by_node = !plan->layered && plan->choice.spec.node != HS_NODE_MESSAGES;
    /* with bits=anywhere the BLAS is not called */
    plan->choice.spec.threads = settings->bits ? 0 : settings->threads >= 0 ? settings->threads : ctx->threads;
    plan->choice.spec.steps = settings->steps;
    if (!status && settings->steps && hs_compute_is_real(ctx->compute))
        status =
            hs_fail(message, HSUMMA_ERR_OPTION,
                    "steps=%d: allowed only in the simulator with compute=time; expected steps=all", settings->steps);
    if (!status && settings->steps && settings->tune == HS_TUNE_MEASURE)
        status = hs_fail(message, HSUMMA_ERR_OPTION,
                         "steps=%d: tune=measure requires whole products; expected steps=all, or tune=estimate or off",
                         settings->steps);
    if (!status && settings->steps && plan->by_node)
        status = hs_fail(message, HSUMMA_ERR_OPTION,
                         "steps=%d: not supported for products inside one node; expected steps=all, or node=messages",
                         settings->steps);
    if (!status && request->whole && !request->first &&
        !(plan->sections = hs_get_zero(&ctx->memory, 1, sizeof *plan->sections)))
        status = HSUMMA_ERR_MEMORY;
    if (!status)
        status = hs_plan_device_prepare(plan, request, settings, options, message);
    if (status || !plan->in_grid)
        return status;
    for (int x = 0; x < 3; x++) {
        struct hs_axis rows = hs_desc_axis(request->desc[x], 0);
        plan->local_rows[x] = hs_axis_count(&rows, request->desc[x]->grid->grid.coord[0]);
    }
    status = hs_plan_check_local(plan, ld, message, about);
    const int guard = request->unguarded ? 0 : settings->guard;
    if (!status && (!request->alone || guard)) { /* hs_plan_run makes no agreement without a guard */
        *about = HS_ABOUT_MEMORY;
        status = hs_plan_agreement_init(plan, &plan->agreement, HS_AGREE_PLAN);
    }
    if (!status && guard)
        status = hs_guard_create(plan, guard, request->first, message);
    if (plan->layered)
        return status;
    if (!status && plan->member && plan->by_node)
        status = hs_node_init(&plan->node, &plan->problem, &plan->choice.spec, plan->grid->shared.mates, &ctx->memory,
                              message);
    if (status || plan->by_node)
        return status;
    if (plan->member)
        status = hs_loop_init(&plan->loop, &plan->problem, &plan->choice.spec, &ctx->comm, &ctx->memory, message);
    /* Only reductions named by the caller are checked, because the model has counted the scratch of algorithms that it
     * chooses.  A process that plans alone must not refuse a plan that other processes accept. */
    int64_t needs = (int64_t)(plan->loop.buffer_bytes + plan->loop.shared_part), limit = plan->ranking.workspace_limit;
    if (!status && settings->reduce.count && !request->alone && needs > limit)
        return hs_fail(message, HSUMMA_ERR_WORKSPACE,
                       "reduce=%s: panels need %" PRId64
                       " bytes of workspace on a process; workspace_limit allows %" PRId64
                       "; use a smaller block, outer or lookahead, or a larger workspace_limit",
                       settings->reduce.name[0], needs, limit);
    if (!status && hs_workspace_want(ctx, plan->loop.buffer_bytes))
        return hs_fail(message, HSUMMA_ERR_MEMORY,
                       "no memory for %zu bytes of workspace; use a smaller block or workspace_limit",
                       plan->loop.buffer_bytes);
    plan->wants = !status;
    return status;
}

int64_t hs_plan_bytes(const hsumma_plan *plan)
{
    const int *extent = plan->problem.grid.extent;
    if (plan->layered)
        return plan->layered->bytes;
    if (plan->by_node)
        return (int64_t)(plan->node.bytes / (size_t)(extent[0] * extent[1]));
    return (int64_t)(plan->loop.arena_bytes + plan->loop.buffer_bytes + plan->loop.shared_part);
}

/* An empty plan, in the memory of the last one that was freed, if there is any: programs whose shapes never repeat
 * would otherwise spend most of the time for a plan on pages that the system takes and gives. */
static hsumma_plan *new_plan(hsumma_context *ctx, int for_cache)
{
    hsumma_plan *plan = for_cache && ctx->spare ? ctx->spare : hs_get(&ctx->memory, 1, sizeof *plan);
    ctx->spare = plan == ctx->spare ? NULL : ctx->spare;
    if (!plan)
        return NULL;
    memset(plan, 0, offsetof(hsumma_plan, ranking.choice));
    plan->line[0] = plan->why[0] = 0;
    for (int i = 0; i < HSUMMA_MAX_RIVALS; i++)
        plan->rival[i][0] = 0;
    return plan;
}

/* Frees the memory of a plan, or keeps it for the next plan of the cache. */
static void forget_plan(hsumma_context *ctx, hsumma_plan *plan)
{
    int keeps = plan->pooled && !ctx->spare;
    ctx->spare = keeps ? plan : ctx->spare;
    if (!keeps)
        hs_put(&ctx->memory, plan);
}

static void hold(hsumma_plan *plan, hsumma_context *ctx, const struct hs_request *request, int cached)
{
    for (int x = 0; x < 3; x++) {
        plan->held[x] = (hsumma_grid *)request->desc[x]->grid; /* the grid is const except for its count of holders */
        plan->held[x]->holders++;
    }
    hsumma_grid *grid = plan->held[HS_A];
    plan->ctx = ctx;
    plan->grid = grid;
    plan->in_grid = plan->member = grid->grid.coord[0] >= 0;
    plan->cached = cached;
    ctx->holders += !cached;
}

static void print_plan(const hsumma_plan *plan, const struct hs_request *request)
{
    const struct hs_problem *problem = &plan->problem;
    fprintf(stderr, "hsumma: m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " %c%c%c grid=%dx%d %s [%s]\n", problem->extent[0],
            problem->extent[1], request->whole ? request->whole : problem->extent[2], problem->scalar->letter,
            problem->view[0].op, problem->view[1].op, plan->grid->grid.extent[0], plan->grid->grid.extent[1],
            plan->line, plan->why);
}

/* Makes communicators for rows "mpi" if the spec uses one. */
static hsumma_status connect(hsumma_plan *plan)
{
    hsumma_context *ctx = plan->ctx;
    if (plan->layered || plan->by_node || !hs_native_wanted(&plan->choice.spec))
        return HSUMMA_OK;
    hsumma_status status = HSUMMA_OK;
    if (hs_simulator())
        status = hs_fail(
            &ctx->message, HSUMMA_ERR_UNSUPPORTED,
            "the simulator cannot run MPI's own collectives in a product; expected an algorithm other than mpi");
    else if (plan->member && (status = hs_loop_connect(&plan->loop)))
        hs_fail(&ctx->message, status,
                "MPI failed to create communicators for algorithm mpi; free the context and create another");
    return hs_context_judge(ctx, status, hs_context_agree(ctx, (struct hs_vote){.status = status}),
                            "hsumma_plan_create", NULL, 0);
}

hsumma_status hs_plan_create(hsumma_context *ctx, const struct hs_request *request, int cached, hsumma_plan **result)
{
    struct hs_options options = ctx->options;
    *result = NULL;
    if (ctx->broken)
        return hs_context_refuse(ctx);
    struct hs_message mine = {""};
    hsumma_status status = hs_options_apply(&options, request->options, HS_BY_PLAN, &mine);
    if (!status)
        status = hs_check_guard(ctx, &options.settings, &mine);
    options.settings.layers = hs_options_layers(&options, request->alone); /* alone: no process waits for others */
    if (request->alone && !request->priced) /* of p?gemm: one word for grids of all sizes */
        options.settings.layers = hs_layered_at_most(request, options.settings.layers);
    if (request->largest) {
        options.settings.layers = 1;
        options.settings.explain = 0;
        options.settings.guard &= HS_GUARD_MESSAGES;
        options.settings.workspace = (struct hs_part){.bytes = request->limit};
    }
    const struct hs_settings settings = options.settings; /* without options from the tuned file */
    if (!status && !request->for_cache)
        status = hs_request_check(request, ctx, &mine);
    const int sections = status ? 1 : hs_sections_count(request, &settings);
    if (sections > 1)
        return hs_sections_create(ctx, request, cached, sections, result);
    struct hs_request together;
    if (!status && hs_layered_together(ctx, request, &settings)) {
        together = *request;
        together.alone = 0;
        request = &together;
    }
    if (!request->alone)
        hs_context_enter(ctx, HS_ENTERED_PLAN, ++ctx->entered, 0);
    if (!status && settings.bits)
        status = hs_request_check_bits(request, ctx, &settings, &mine);
    /* A process proceeds to the agreement also after an error, because others may have a different status. */
    int about = HS_ABOUT_NOTHING;
    int64_t hash = status ? 0 : hs_request_hash(request, 0);
    struct hs_subject subject;
    struct hs_layered *layered = NULL;
    if (!status && hs_layered_wanted(request, &settings) &&
        (status = hs_layered_create(ctx, request, &settings, &layered)))
        return status;
    if (layered) /* its grids' creation was entered last */
        hs_context_enter(ctx, HS_ENTERED_PLAN, ++ctx->entered, 0);
    hsumma_plan *plan = status ? NULL : new_plan(ctx, request->for_cache);
    if (plan) {
        hold(plan, ctx, request, cached);
        plan->mark = (uint32_t)hash;
        plan->layered = layered;
        hs_plan_problem(request, &settings, &plan->scalar, &plan->problem);
        hs_subject_make(plan, request, &settings, &subject);
        status = layered ? HSUMMA_OK : hs_plan_leave_idle(plan, &subject, &settings);
        about = status ? HS_ABOUT_MEMORY : about;
        if (!status)
            status = prepare(plan, request, &subject, &settings, &options, &mine, &about);
    } else if (!status) {
        status = HSUMMA_ERR_MEMORY;
        about = HS_ABOUT_MEMORY;
        hs_layered_destroy(ctx, layered);
    }
    if (status)
        hs_fail(&ctx->message, status, "%s", mine.text[0] ? mine.text : "no memory for a plan");
    struct hs_vote vote = {.status = status, .about = about, .value = plan ? hs_plan_bytes(plan) : 0, .hash = hash};
    struct hs_verdict verdict;
    status = layered ? hs_layered_agree(ctx, plan, vote, &verdict)
                     : hs_request_agree(ctx, request, &settings, vote, &verdict);
    ctx->broken |= hs_status_is_final(verdict.status);
    int layers = 1;
    if (!status)
        status = choose_layers(plan, request, &settings, &layers);
    if (!status && layers > 1) {
        struct hs_request in_layers = *request;
        in_layers.layers = layers;
        status = hs_plan_create(ctx, &in_layers, cached, result);
        int without = status == HSUMMA_ERR_WORKSPACE || status == HSUMMA_ERR_UNSUPPORTED || status == HSUMMA_ERR_MEMORY;
        if (!without || ctx->broken) {
            hs_plan_destroy(plan);
            return status;
        }
        status = HSUMMA_OK; /* all processes keep the plan without layers: layers would exceed the limit or the
                               memory, or are unsupported */
    }
    if (!status)
        status = connect(plan);
    if (!status)
        status = hs_plan_device_join(plan, &settings);
    if (!status) {
        plan->workspace_max = verdict.value;
        if (!request->silent)
            hs_plan_describe(plan, &options);
        if (settings.explain && ctx->comm.rank == 0 && !request->choice && !request->silent)
            print_plan(plan, request);
        if (settings.tune == HS_TUNE_MEASURE && !layered && !request->alone && !request->choice && !plan->remembered)
            status = hs_trial_begin(plan, request, &options);
    }
    if (status) {
        hs_plan_destroy(plan);
    } else {
        plan->pooled = request->for_cache;
        *result = plan;
    }
    return status;
}

void hs_plan_destroy(hsumma_plan *plan)
{
    if (!plan)
        return;
    hsumma_context *ctx = plan->ctx;
    int cached = plan->cached;
    hs_plan_wait(plan);
    hs_trial_end(plan);
    hs_sections_destroy(ctx, plan->sections);
    if (!ctx->broken) { /* after an MPI error MPI may still write to the buffers, so they are not freed */
        hs_loop_free(&plan->loop, &ctx->memory);
        hs_node_free(&plan->node, &ctx->memory);
        hs_node_free(&plan->device.node, &ctx->memory);
        hs_agreement_free(&plan->agreement, &ctx->memory);
        hs_guard_destroy(&ctx->memory, plan->guard);
    }
    hs_layered_destroy(ctx, plan->layered);
    if (plan->wants && !ctx->broken)
        hs_workspace_leave(ctx);
    for (int x = 0; x < 3; x++)
        hs_grid_release(plan->held[x]);
    if (ctx->broken) {
        hs_keep(plan);
    } else {
        hs_put(&ctx->memory, plan->ranks);
        forget_plan(ctx, plan);
    }
    if (!cached)
        hs_context_release(ctx);
}
