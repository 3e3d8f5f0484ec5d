/* Executions of a plan: the agreement at the start, the loop or the product inside a node, and trials. */
#include "hsumma/plan/plan.h"

#include "base/wait.h"
#include "coll/run/notice.h"

#include <string.h>

/* The place of this process's part of an operand, if the part is in memory of hsumma_malloc that the node's processes
 * have mapped; otherwise region -1. */
static struct hs_where where_is(const hsumma_plan *plan, int x, const struct hs_matrix *matrix)
{
    const struct hs_view *view = &plan->problem.view[x];
    size_t offset, size = plan->problem.scalar->size;
    if (view->rows == 0 || view->cols == 0 || !plan->ctx->allocations.shared)
        return (struct hs_where){-1, 0};
    const struct hs_region *region = hs_region_of(plan->ctx->allocations.shared, matrix->base,
                                                  (size_t)((view->cols - 1) * matrix->ld + view->rows) * size, &offset);
    return region ? (struct hs_where){region->number, (int64_t)offset} : (struct hs_where){-1, 0};
}

/* Whether the current execution is measured for an undecided trial.  Executions on devices and with alpha = 0 are not.
 */
static int counts(hsumma_plan *plan)
{
    const struct hs_trial *trial = &hs_plan_holder(plan)->trial;
    return trial->count && !trial->decided && !plan->on_device && !plan->problem.scalar->is_zero(&plan->alpha);
}

struct hs_node_execution hs_plan_count_execution(const hsumma_plan *plan)
{
    struct hs_product_memory *shared = &plan->grid->shared;
    if (!plan->by_node && !plan->on_device && !plan->choice.spec.cells)
        return (struct hs_node_execution){NULL, 0, 0};
    return (struct hs_node_execution){.shared = shared, .number = hs_node_count(shared, &plan->problem.grid)};
}

static void begin(hsumma_plan *plan, const void *alpha, const struct hs_matrix matrix[3], const void *beta)
{
    if (plan->layered) {
        hs_layered_begin(plan);
        return;
    }
    const struct hs_node_execution execution = hs_plan_count_execution(plan);
    plan->saved = 0; /* also where this process has no part of the product: it takes part in the agreements */
    if (!plan->member)
        return;
    if (plan->on_device) {
        hs_plan_begin_on_device(plan, execution.number);
        return;
    }
    if (plan->by_node) {
        struct hs_where where[2];
        for (int x = 0; x < 2; x++)
            where[x] = where_is(plan, x, &matrix[x]);
        hs_node_start(&plan->node, execution.shared, hs_checking(&plan->ctx->comm, plan->choice.spec.checked), NULL,
                      execution.number, alpha, matrix, where, beta, plan->began);
        return;
    }
    plan->workspace = hs_workspace_hold(plan->ctx->workspace);
    hs_loop_start(&plan->loop, alpha, matrix, beta, plan->workspace->base, &execution, plan->began, 0,
                  counts(plan) ? hs_trial_first_span(plan) : plan->loop.panels.run);
}

/* Begins the product; with a guard, first its checksums. */
static hsumma_status start_product(hsumma_plan *plan)
{
    int sums = 0;
    plan->phase = HS_PLAN_SUMMING;
    hsumma_status status = plan->guard ? hs_guard_start(plan, &sums) : HSUMMA_OK;
    if (sums)
        return status;
    plan->phase = HS_PLAN_MULTIPLYING;
    begin(plan, &plan->alpha, plan->matrix, &plan->beta);
    return status;
}

/* Begins the product once more, from the caller's matrices. */
static void repeat_product(hsumma_plan *plan)
{
    hs_workspace_release(plan->ctx, plan->workspace);
    plan->workspace = NULL;
    if (plan->ctx->device && plan->member && !plan->failure)
        plan->failure = hs_staging_load(plan);
    plan->phase = HS_PLAN_MULTIPLYING;
    begin(plan, &plan->alpha, plan->matrix, &plan->beta);
}

static void reset(hsumma_plan *plan)
{
    plan->on_device = plan->from_host = plan->staged = 0;
    plan->failure = HSUMMA_OK;
}

hsumma_status hs_plan_start(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                            const void *beta)
{
    hsumma_context *ctx = plan->ctx;
    int about = HS_ABOUT_NOTHING;
    hsumma_status status = hs_context_check_free(plan->ctx);
    if (status)
        return status;
    plan->executions++;
    if (!hs_sections_follow(plan)) /* else the call is still that of the first section */
        hs_context_enter(ctx, HS_ENTERED_EXECUTION, plan->executions, plan->mark);
    hs_trial_remember(plan);
    hs_trial_settle(plan);
    plan = hs_trial_turn(plan);
    hsumma_status mine = hs_plan_bind(plan, alpha, data, ld, beta, &about);
    if (!mine)
        mine = hs_plan_check_overlap(plan, alpha, &about);
    if (!mine && hs_sections_lead(plan))
        mine = hs_sections_bind(plan, alpha, data, ld, &about);
    size_t size = plan->problem.scalar->size;
    int vote = 0;
    reset(plan);
    memcpy(&plan->alpha, alpha ? alpha : plan->problem.scalar->zero, size);
    memcpy(&plan->beta, beta ? beta : plan->problem.scalar->zero, size);
    if (!mine)
        mine = hs_plan_locate(plan, &about, &vote);
    plan->began = hs_now();
    ctx->running = plan;
    plan->phase = plan->in_grid ? HS_PLAN_AGREEING : HS_PLAN_COMPLETE;
    if (plan->in_grid)
        status = hs_agreement_start(
            &plan->agreement,
            (struct hs_vote){.status = mine, .about = about, .value = vote, .hash = hs_plan_execution_hash(plan)});
    if (status) {
        plan->phase = HS_PLAN_COMPLETE;
        ctx->running = NULL;
        ctx->broken = 1;
        return hs_context_ended_early(ctx, status, "the start of the multiplication");
    }
    return HSUMMA_OK;
}

hsumma_status hs_plan_run(hsumma_plan *plan, const void *alpha, const void *const data[3], const int64_t ld[3],
                          const void *beta)
{
    int about;
    hsumma_status status = hs_context_check_free(plan->ctx);
    if (!status)
        status = hs_plan_bind(plan, alpha, data, ld, beta, &about);
    if (!status && hs_sections_lead(plan))
        status = hs_sections_bind(plan, alpha, data, ld, &about);
    if (status || !plan->in_grid)
        return status;
    hs_context_enter(plan->ctx, HS_ENTERED_EXECUTION, ++plan->executions, plan->mark);
    plan->began = hs_now();
    reset(plan);
    if (plan->guard || plan->layered) {
        memcpy(&plan->alpha, alpha, plan->problem.scalar->size);
        memcpy(&plan->beta, beta, plan->problem.scalar->size);
    }
    if (plan->guard) {
        if (plan->ctx->device)
            hs_staging_look(plan);
        status = start_product(plan);
        plan->failure = status ? status : plan->failure;
        plan->phase = status ? HS_PLAN_FAILED : plan->phase;
        plan->ctx->running = plan;
        return hs_plan_wait(plan);
    }
    begin(plan, alpha, plan->matrix, beta);
    if (!plan->member)
        return HSUMMA_OK;
    plan->phase = HS_PLAN_MULTIPLYING;
    plan->ctx->running = plan;
    return hs_plan_wait(plan);
}

/* The model's prediction for the whole product. */
static struct hs_prediction predicted_of(const hsumma_plan *plan)
{
    const struct hs_layered *layered = plan->layered;
    if (!layered)
        return plan->on_device ? plan->device.choice.prediction : plan->choice.prediction;
    struct hs_prediction prediction = layered->inner->choice.prediction;
    for (int x = 0; x < 3; x++)
        prediction.seconds += layered->move_seconds[x];
    return prediction;
}

static void trace_product(const hsumma_plan *plan)
{
    const struct hs_problem *problem = &plan->problem;
    const struct hs_prediction predicted = predicted_of(plan);
    const int64_t *extent = problem->extent;
    hs_trace_resume(problem->trace);
    if (plan->in_grid)
        hs_trace_add(problem->trace,
                     (struct hs_trace_entry){
                         .begin = plan->began,
                         .end = hs_trace_now(problem->trace),
                         .amount = extent[0] * extent[1] * extent[2] * (problem->scalar->complex_type ? 8 : 2),
                         .predicted = {(float)predicted.seconds, (float)predicted.gemm, (float)predicted.copy},
                         .kind = HS_TRACE_PRODUCT,
                         .operand = -1});
}

/* Sets the message when another rank has failed.  Does not fetch that rank's message, because no rank may wait here. */
static void blame(hsumma_context *ctx, struct hs_verdict verdict)
{
    static const char *const about[] = {"",
                                        " (A: pointer or leading dimension)",
                                        " (B: pointer or leading dimension)",
                                        " (C: pointer or leading dimension)",
                                        " (alpha or beta is NULL)",
                                        " (workspace)",
                                        " (C overlaps A or B)"};
    hs_fail(&ctx->message, verdict.status, "rank %d reports: %s%s; see hsumma_message there", verdict.rank,
            hsumma_status_string(verdict.status), verdict.about <= HS_ABOUT_OVERLAP ? about[verdict.about] : "");
}

/* Ends an execution, or that of a section, successful or not. */
static hsumma_status finish(hsumma_plan *plan, hsumma_status status)
{
    hsumma_context *ctx = plan->ctx;
    const int most = (int)sizeof ctx->message.text - 160;
    const char *news = hs_local_news(ctx->local);
    ctx->running = NULL;
    ctx->comm.checks_messages = 0;
    plan->phase = HS_PLAN_COMPLETE;
    trace_product(plan);
    const int broken = hs_status_is_final(status) || status == HSUMMA_ERR_INTERNAL ||
                       (status == HSUMMA_ERR_DEVICE && hs_notice_has_come(&ctx->comm));
    ctx->broken |= broken;
    if (!broken) /* otherwise messages in flight may still write to the workspace */
        hs_workspace_release(ctx, plan->workspace);
    plan->workspace = NULL;
    hs_staging_drop(plan);
    if (plan->on_device)
        hs_plan_holder(plan)->device.seconds = hs_now() - plan->began;
    if (!status && plan->guard && hs_guard_figures(plan->guard)->news.text[0])
        return hs_fail(&ctx->message, HSUMMA_OK, "%.*s", most, hs_guard_figures(plan->guard)->news.text);
    if (!status)
        return news[0] ? hs_fail(&ctx->message, HSUMMA_OK, "rank %d: device disabled; falling back to the BLAS: %.*s",
                                 ctx->comm.rank, most, news)
                       : HSUMMA_OK;
    if (hs_status_is_final(status))
        return hs_context_ended_early(ctx, status, "the multiplication (C is now undefined)");
    struct hs_verdict verdict = hs_agreement_verdict(&plan->agreement);
    if (!verdict.status && !verdict.alike) /* hs_plan_judge_start has set the message */
        return status;
    if (verdict.status != status)
        return hs_fail(&ctx->message, status, "the multiplication ended early: %s%s%.*s; C is undefined%s",
                       hsumma_status_string(status), news[0] ? ", " : "", most, news,
                       broken ? ", and the context unusable: free it and create another" : "");
    if (verdict.rank != ctx->comm.rank)
        blame(ctx, verdict);
    return status;
}

/* Continues after the multiplication: with the check of C, if there is a guard. */
static hsumma_status check(hsumma_plan *plan)
{
    int sums = 0;
    hsumma_status status = plan->guard ? hs_guard_check(plan, &sums) : HSUMMA_OK;
    plan->phase = !plan->guard ? HS_PLAN_COMPLETE : sums ? HS_PLAN_CHECKING : HS_PLAN_JUDGING;
    return status || sums || !plan->guard ? status : hs_guard_judge(plan);
}

/* Ends the multiplication on this process.  Also ends the execution, unless errors of devices must be reported first.
 */
static hsumma_status end(hsumma_plan *plan, hsumma_status status)
{
    plan->failure = plan->failure ? plan->failure : status;
    plan->phase = HS_PLAN_COMPLETE;
    if (hs_status_is_final(status) || !plan->in_grid)
        return status;
    if (!(plan->on_device || plan->staged))
        return status && !plan->guard ? status : check(plan); /* with a guard all agree on this process's error, too */
    plan->phase = HS_PLAN_REPORTING;
    return hs_agreement_start(&plan->agreement, (struct hs_vote){.status = hs_plan_end(plan)});
}

/* Advances the multiplication in layers, in a trial, on a device, in the node's memory or over messages. */
static hsumma_status multiply(hsumma_plan *plan, int *worked, int *over)
{
    hsumma_plan *holder = hs_plan_holder(plan);
    int sharing = holder->trial.stepping && counts(plan);
    hsumma_status status = HSUMMA_OK;
    *over = 1;
    if (plan->layered)
        status = hs_layered_advance(plan, worked, over);
    else if (sharing)
        status = hs_trial_share(holder, worked, over);
    else if (plan->member)
        status = plan->on_device ? hs_node_advance(&holder->device.node, worked, over)
                 : plan->by_node ? hs_node_advance(&plan->node, worked, over)
                                 : hs_loop_advance(&plan->loop, worked, over);
    if (!*over)
        return status;
    if (status || sharing || !counts(plan) || !plan->in_grid)
        return end(plan, status);
    plan->phase = HS_PLAN_TIMING;
    return HSUMMA_OK;
}

void hs_plan_begin_inner(hsumma_plan *plan, const void *alpha, const struct hs_matrix matrix[3], const void *beta)
{
    plan->began = hs_now();
    reset(plan);
    begin(plan, alpha, matrix, beta);
    plan->phase = HS_PLAN_MULTIPLYING;
}

hsumma_status hs_plan_advance_inner(hsumma_plan *plan, int *worked, int *over)
{
    hsumma_status status = plan->member ? multiply(plan, worked, over) : HSUMMA_OK;
    *over |= !plan->member;
    if (status || !*over)
        return status;
    plan->phase = HS_PLAN_COMPLETE;
    hs_workspace_release(plan->ctx, plan->workspace);
    plan->workspace = NULL;
    return HSUMMA_OK;
}

/* Advances an execution through its phases as far as possible without waiting (an hs_advance function). */
static hsumma_status advance(void *state, int *worked, int *done)
{
    hsumma_plan *plan = state;
    struct hs_agreement *agreement = &plan->agreement;
    hsumma_status status = HSUMMA_OK;
    int again, over = 1; /* over: 1 if the phase is complete */
    for (*done = 0; !status && over && !*done;)
        switch (plan->phase) {
        case HS_PLAN_AGREEING:
        case HS_PLAN_STAGING:
            status = hs_agreement_advance(agreement, worked, &over);
            if (!status && over)
                status = hs_plan_judge_start(plan, hs_agreement_verdict(agreement));
            if (!status && over)
                status = hs_plan_settle(plan, (int)hs_agreement_verdict(agreement).value);
            if (!status && plan->phase == HS_PLAN_MULTIPLYING)
                status = start_product(plan);
            break;
        case HS_PLAN_SUMMING:
            status = hs_guard_advance(plan, worked, &over);
            if (!status && over) {
                hs_guard_expect(plan);
                plan->phase = HS_PLAN_MULTIPLYING;
                begin(plan, &plan->alpha, plan->matrix, &plan->beta);
            }
            break;
        case HS_PLAN_MULTIPLYING:
            status = multiply(plan, worked, &over);
            break;
        case HS_PLAN_TIMING:
            status = hs_trial_advance(hs_plan_holder(plan), hs_now() - plan->began, worked, &over);
            if (!status && over)
                status = end(plan, HSUMMA_OK);
            break;
        case HS_PLAN_REPORTING:
            status = hs_agreement_advance(agreement, worked, &over);
            if (status || !over)
                break;
            again = hs_plan_is_unsaved(plan);
            status = hs_plan_reported(plan, hs_agreement_verdict(agreement).status);
            if (!status && !again)
                status = check(plan);
            break;
        case HS_PLAN_CHECKING:
            status = hs_guard_advance(plan, worked, &over);
            if (!status && over) {
                plan->phase = HS_PLAN_JUDGING;
                status = hs_guard_judge(plan);
            }
            break;
        case HS_PLAN_JUDGING:
            status = hs_agreement_advance(agreement, worked, &over);
            if (!status && over) {
                plan->phase = HS_PLAN_COMPLETE;
                status = hs_guard_settle(plan, &again);
            }
            if (!status && over && again)
                repeat_product(plan);
            break;
        case HS_PLAN_FAILED:
            return plan->failure;
        case HS_PLAN_COMPLETE:
            *done = 1;
        }
    return status;
}

hsumma_status hs_plan_wait(hsumma_plan *plan)
{
    hsumma_status status = HSUMMA_OK;
    for (int more = 1; more && (plan = hs_plan_under_way(plan));) {
        status = finish(plan, hs_wait_idle(advance, plan, hs_plan_idle, plan, plan->ctx->comm.watch));
        status = hs_sections_proceed(plan->sections, status, &more);
    }
    return status;
}

void hs_plan_drive(hsumma_plan *plan, int *worked)
{
    int done = 0;
    hsumma_status status = plan->phase == HS_PLAN_FAILED ? HSUMMA_OK : advance(plan, worked, &done);
    if (!status && done && hs_sections_remain(plan->sections)) {
        status = hs_sections_proceed(plan->sections, finish(plan, HSUMMA_OK), &done);
        if (done)
            return;
        plan->ctx->running = plan; /* wait or test returns the status */
    }
    if (status) {
        plan->failure = status;
        plan->phase = HS_PLAN_FAILED;
    }
    hs_plan_let_messages_move(plan);
}

hsumma_status hs_plan_test(hsumma_plan *plan, int *done)
{
    int worked = 0;
    *done = 1;
    plan = hs_plan_under_way(plan);
    if (!plan)
        return HSUMMA_OK;
    hsumma_status status = advance(plan, &worked, done);
    if (!status && !*done) {
        hs_plan_let_messages_move(plan);
        status = hs_stall_glance(plan->ctx);
    }
    hs_trace_resume(plan->problem.trace);
    if (!status && !*done)
        return HSUMMA_OK;
    int more;
    status = hs_sections_proceed(plan->sections, finish(plan, status), &more);
    *done = !more;
    return status;
}
