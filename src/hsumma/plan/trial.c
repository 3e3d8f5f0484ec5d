#include "hsumma/plan/trial.h"

#include "base/wait.h"
#include "hsumma/plan/plan.h"

#include <stdio.h>
#include <string.h>

enum { STEPPED_ROUNDS = 2 };
static const double margin = 0.98; /* a rival must be faster by this factor: smaller differences are noise */

uint64_t hs_placed_hash(const hsumma_context *ctx, const struct hs_request *request)
{
    const struct hs_grid *grid = &request->desc[0]->grid->grid;
    const struct hs_topology *topology = &ctx->comm.topology;
    const struct hs_fabric *fabric = topology->fabric;
    uint64_t hash = (uint64_t)hs_request_hash(request, 1);
    hash = fabric ? hs_fabric_hash(hash, fabric) : hash;
    if (grid->extent[0] * grid->extent[1] > topology->size || topology->division[HS_NODE].parts <= 1)
        return hash;
    return hs_placement_hash(hash, topology, grid);
}

/* Makes the key of a product in the tuned file from global arguments, placement, threads and workspace.  The key is
 * equal on all processes. */
static void make_key(const hsumma_context *ctx, const struct hs_request *request, const struct hs_options *options,
                     char key[HS_TUNED_KEY])
{
    const int *grid = request->desc[0]->grid->grid.extent;
    const long long m = request->extent[0], n = request->extent[1], k = request->extent[2];
    const char *op = request->op;
    char threads[HS_NAME_TEXT] = "", workspace[HS_NAME_TEXT];
    int nodes = ctx->profile.one_node, said = options->said_by[HS_OPT_THREADS];
    if (ctx->comm.topology.size)
        nodes = ctx->comm.topology.division[HS_NODE].parts;
    if (said)
        hs_option_write(HS_OPT_THREADS, &options->settings, threads, sizeof threads);
    hs_option_write(HS_OPT_WORKSPACE_LIMIT, &options->settings, workspace, sizeof workspace);
    snprintf(key, HS_TUNED_KEY, "%c,%c%c,%lldx%lldx%lld,%dx%d,nodes=%d,threads=%s%d,workspace=%s,layout=%016llx",
             "sdcz"[request->type], op[0], op[1], m, n, k, grid[0], grid[1], nodes, threads,
             said ? 0 : ctx->threads_model, workspace, (unsigned long long)hs_placed_hash(ctx, request));
    for (char *c = key; *c; c++)
        if (*c == ' ' || *c == '#')
            *c = '_';
}

int hs_trial_recall(const hsumma_context *ctx, const struct hs_request *request, const struct hs_options *options,
                    struct hs_options *remembered)
{
    char key[HS_TUNED_KEY];
    if (ctx->tuned.count == 0 || options->settings.tune == HS_TUNE_OFF || hs_options_plan_said(options) ||
        options->settings.guard & HS_GUARD_MESSAGES) /* measured without CRCs, and perhaps an algorithm without any */
        return 0;
    make_key(ctx, request, options, key);
    const struct hs_tuned_entry *entry = hs_tuned_find(&ctx->tuned, key);
    *remembered = *options;
    return entry && !hs_options_apply(remembered, entry->line, HS_BY_TUNED, NULL);
}

hsumma_plan *hs_trial_turn(hsumma_plan *plan)
{
    return plan->trial.count ? plan->trial.plan[plan->trial.turn] : plan;
}

/* Destroys the plan of candidate i, a rival; plan 0 is the caller's and is not destroyed. */
static void drop(struct hs_trial *trial, int i)
{
    hs_plan_destroy(trial->plan[i]);
    trial->plan[i] = NULL;
}

void hs_trial_settle(hsumma_plan *plan)
{
    for (int i = 1; i < plan->trial.count; i++)
        if (plan->trial.out[i])
            drop(&plan->trial, i);
    plan->trial.served = plan->trial.turn;
}

void hs_trial_end(hsumma_plan *plan)
{
    if (plan->trial.count == 0)
        return;
    for (int i = 1; i < plan->trial.count; i++)
        drop(&plan->trial, i);
    if (!plan->ctx->broken)
        hs_agreement_free(&plan->trial.agreement, &plan->ctx->memory);
    plan->trial.count = 0;
    plan->ctx->trials--;
}

/* Whether two candidates multiply the same panels in the same slices, so that one can continue where the other
 * stops. */
static int shares_panels(const hsumma_plan *a, const hsumma_plan *b)
{
    const struct hs_spec *x = &a->choice.spec, *y = &b->choice.spec;
    return !a->by_node && !b->by_node && x->stationary == y->stationary && x->slice == y->slice &&
           x->width[x->levels - 1] == y->width[y->levels - 1] && x->turn == y->turn;
}

/* Minimum length of a span in innermost panels: two outermost panels, plus twice the lookahead. */
static int span_length(const hsumma_plan *plan)
{
    const struct hs_spec *spec = &plan->choice.spec;
    int64_t outer = spec->width[0] / spec->width[spec->levels - 1];
    return 2 * (int)(outer < 1 << 20 ? outer : 1 << 20) +
           2 * (int)(hs_spec_ahead(spec) / spec->width[spec->levels - 1]);
}

/* Determines the candidates that share the first execution.  They share it only if their spans take at most half of the
 * panels.  The result is equal on all processes. */
static void plan_spans(struct hs_trial *trial)
{
    const hsumma_plan *first = trial->plan[0];
    int longest = 0;
    for (int i = 0; i < trial->count; i++) {
        if (!shares_panels(first, trial->plan[i]))
            continue;
        trial->sharer[trial->sharers++] = i;
        longest = span_length(trial->plan[i]) > longest ? span_length(trial->plan[i]) : longest;
    }
    const struct hs_spec *spec = &first->choice.spec;
    int dim = first->choice.spec.stationary == HS_C ? HS_K : first->choice.spec.stationary == HS_A ? HS_N : HS_M;
    int64_t panels = first->problem.extent[dim] / spec->width[spec->levels - 1]; /* a lower bound */
    trial->spans = STEPPED_ROUNDS * trial->sharers;
    trial->stepping = trial->sharers > 1 && 2 * (int64_t)trial->spans * longest <= panels;
}

hsumma_status hs_trial_begin(hsumma_plan *plan, const struct hs_request *request, const struct hs_options *options)
{
    struct hs_trial *trial = &plan->trial;
    hsumma_context *ctx = plan->ctx;
    hsumma_status status = HSUMMA_OK;
    if (plan->ranking.count < 2 || request->extent[0] == 0 || request->extent[1] == 0 || request->extent[2] == 0)
        return HSUMMA_OK;
    if (plan->in_grid)
        status = hs_plan_agreement_init(plan, &trial->agreement, HS_AGREE_TRIAL);
    if (!status)
        status = hs_tuned_reserve(&ctx->tuned, ctx->trials + 1, &ctx->memory);
    status = hs_agree(&ctx->agreement, (struct hs_vote){.status = status}).status;
    if (status) {
        hs_agreement_free(&trial->agreement, &ctx->memory);
        return hs_fail(&ctx->message, status, "no memory for measuring plans");
    }
    ctx->trials++;
    trial->remembers = !hs_options_plan_said(options);
    make_key(ctx, request, options, trial->key);
    trial->deciding = -1;
    trial->plan[0] = plan;
    trial->count = 1;
    for (int i = 1; i < plan->ranking.count; i++) {
        struct hs_request rival = *request;
        rival.choice = &plan->ranking.choice[i];
        status = hs_plan_create(ctx, &rival, 1, &trial->plan[trial->count]);
        if (hs_status_is_final(status))
            break;
        if (status) /* all processes skip this rival, because the status is equal on all */
            continue;
        trial->plan[trial->count]->holder = plan;
        trial->rank[trial->count++] = i;
        status = HSUMMA_OK;
    }
    if (hs_status_is_final(status) || trial->count == 1) {
        hs_trial_end(plan);
        return hs_status_is_final(status) ? status : HSUMMA_OK;
    }
    plan_spans(trial);
    if (!plan->in_grid) /* this process participated in making the rivals, but does not execute them */
        hs_trial_end(plan);
    return HSUMMA_OK;
}

/* Replaces each candidate's time by the time on the slowest process (an hs_advance function). */
static hsumma_status agree_on(struct hs_trial *trial, double *seconds, int *worked, int *done)
{
    hsumma_status status = HSUMMA_OK;
    *done = 0;
    while (!status && trial->deciding < trial->count) {
        int met = 0;
        if (trial->deciding < 0) {
            trial->deciding = 0;
        } else {
            status = hs_agreement_advance(&trial->agreement, worked, &met);
            if (status || !met)
                return status;
            seconds[trial->deciding] = 1e-9 * (double)hs_agreement_verdict(&trial->agreement).value;
            trial->deciding++;
        }
        if (trial->deciding < trial->count)
            status = hs_agreement_start(&trial->agreement,
                                        (struct hs_vote){.value = (int64_t)(seconds[trial->deciding] * 1e9)});
    }
    *done = !status;
    trial->deciding = *done ? -1 : trial->deciding;
    return status;
}

/* The fastest of the remaining candidates; `first` unless another candidate is clearly faster. */
static int fastest(const struct hs_trial *trial, const double *seconds, int first)
{
    int best = first;
    for (int i = 0; i < trial->count; i++)
        if (!trial->out[i] && seconds[i] > 0 && seconds[i] < seconds[best])
            best = i;
    return seconds[best] > margin * seconds[first] ? first : best;
}

/* Ends the trial: the fastest candidate, `best`, runs from now on, and is remembered if trial->remembers. */
static void decide(hsumma_plan *holder, int best)
{
    struct hs_trial *trial = &holder->trial;
    hsumma_context *ctx = holder->ctx;
    const hsumma_plan *winner = trial->plan[best];
    trial->turn = best;
    trial->decided = 1;
    for (int i = 0; i < trial->count; i++)
        trial->out[i] = i != best;
    if (!trial->remembers) /* options excluded candidates, so the fastest of the rest need not be the fastest of all */
        return;
    /* the context may only remember what all its processes know */
    trial->to_remember = holder->grid->grid.extent[0] * holder->grid->grid.extent[1] == ctx->comm.size;
    if (!ctx->tuned_file[0] || hs_grid_rank(&holder->grid->grid, 0) != ctx->comm.rank)
        return;
    struct hs_tuned_entry entry;
    char line[HS_TUNED_KEY + HS_TUNED_LINE + 64];
    const char *const lines[1] = {line};
    struct hs_message message = {""};
    snprintf(entry.key, sizeof entry.key, "%s", trial->key);
    snprintf(entry.line, sizeof entry.line, "%s", winner->line);
    entry.seconds = trial->seconds[best];
    hs_tuned_write(&entry, line, sizeof line);
    if (hs_tuned_merge(ctx->tuned_file, lines, 1, &ctx->memory, &message))
        snprintf(ctx->note, sizeof ctx->note, "%.400s", message.text);
}

void hs_trial_remember(hsumma_plan *holder)
{
    struct hs_trial *trial = &holder->trial;
    if (trial->count && trial->to_remember)
        hs_tuned_put(&holder->ctx->tuned, trial->key, trial->seconds[trial->turn], trial->plan[trial->turn]->line,
                     &holder->ctx->memory); /* cannot fail: memory has been reserved */
    trial->to_remember = 0;
}

/* Advances `turn` to the next remaining candidate; a round ends after the last candidate. */
static void next_turn(struct hs_trial *trial)
{
    do {
        trial->turn = (trial->turn + 1) % trial->count;
        trial->rounds += trial->turn == 0;
    } while (trial->out[trial->turn]);
}

static int first_in(const struct hs_trial *trial)
{
    int i = 0;
    while (trial->out[i])
        i++;
    return i;
}

static int left_in(const struct hs_trial *trial)
{
    int in = 0;
    for (int i = 0; i < trial->count; i++)
        in += !trial->out[i];
    return in;
}

hsumma_status hs_trial_advance(hsumma_plan *holder, double seconds, int *worked, int *done)
{
    struct hs_trial *trial = &holder->trial;
    *done = 1;
    if (trial->decided)
        return HSUMMA_OK;
    if (trial->rounds < STEPPED_ROUNDS) {
        double *best = &trial->seconds[trial->turn];
        *best = *best == 0 || seconds < *best ? seconds : *best;
        trial->executions++;
        next_turn(trial);
        if (trial->rounds < STEPPED_ROUNDS)
            return HSUMMA_OK;
    }
    hsumma_status status = agree_on(trial, trial->seconds, worked, done);
    if (!status && *done)
        decide(holder, fastest(trial, trial->seconds, first_in(trial)));
    return status;
}

/* The candidate that executes a span of the shared execution. */
static int sharer_of(const struct hs_trial *trial, int span)
{
    return trial->sharer[span % trial->sharers];
}

/* The end of a span that begins at panel `from`: the next panel from which all sharing candidates can continue. */
static int span_end(const struct hs_trial *trial, int from)
{
    int to = from, before = -1;
    for (int i = 0; i < trial->sharers; i++) {
        int end = from + span_length(trial->plan[trial->sharer[i]]);
        to = end > to ? end : to;
    }
    while (to != before) {
        before = to;
        for (int i = 0; i < trial->sharers; i++)
            to = hs_loop_boundary(&trial->plan[trial->sharer[i]]->loop, to);
    }
    return to;
}

int hs_trial_first_span(hsumma_plan *holder)
{
    struct hs_trial *trial = &holder->trial;
    trial->span = trial->from = 0;
    trial->to = trial->stepping && holder->member ? span_end(trial, 0) : HS_ALL;
    memset(&trial->together, 0, sizeof trial->together);
    return trial->to;
}

static void add_times(struct hs_times *sum, const struct hs_times *span)
{
    sum->seconds += span->seconds;
    sum->gemm += span->gemm;
    sum->copy += span->copy;
    sum->bytes += span->bytes;
    sum->messages += span->messages;
}

/* Begins the next span, with the loop of candidate i. */
static void start_span(hsumma_plan *holder, int i, int to)
{
    struct hs_trial *trial = &holder->trial;
    const struct hs_node_execution execution = hs_plan_count_execution(trial->plan[i]);
    trial->from = trial->to;
    trial->to = to;
    if (holder->member)
        hs_loop_start(&trial->plan[i]->loop, &holder->alpha, holder->matrix, &holder->beta, holder->workspace->base,
                      &execution, hs_now(), trial->from, to);
}

/* Ends the shared execution.  All candidates that shared it, except the fastest, have lost. */
static void finish_sharing(hsumma_plan *holder)
{
    struct hs_trial *trial = &holder->trial;
    trial->stepping = 0;
    trial->executions++;
    for (int i = 0; i < trial->sharers; i++)
        trial->out[trial->sharer[i]] = trial->sharer[i] != trial->turn;
    trial->plan[trial->turn]->loop.last = trial->together;
    trial->served = trial->turn;
    if (left_in(trial) == 1) {
        trial->seconds[trial->turn] = trial->together.seconds;
        decide(holder, trial->turn);
        return;
    }
    trial->turn = first_in(trial); /* rounds begin with the first remaining candidate */
}

hsumma_status hs_trial_share(hsumma_plan *holder, int *worked, int *done)
{
    struct hs_trial *trial = &holder->trial;
    hsumma_status status = HSUMMA_OK;
    int complete = 1, last = trial->span == trial->spans;
    *done = 0;
    if (trial->deciding < 0) {
        int now = last ? trial->turn : sharer_of(trial, trial->span);
        struct hs_loop *loop = &trial->plan[now]->loop;
        if (holder->member)
            status = hs_loop_advance(loop, worked, &complete);
        if (status || !complete)
            return status;
        if (holder->member)
            add_times(&trial->together, &loop->last);
        if (last) {
            finish_sharing(holder);
            *done = 1;
            return HSUMMA_OK;
        }
        int panels = holder->member ? trial->to - trial->from : 0;
        double one = panels > 0 ? loop->last.seconds / panels : 0;
        trial->step[now] = trial->step[now] == 0 || (one > 0 && one < trial->step[now]) ? one : trial->step[now];
        *worked = 1;
        if (++trial->span < trial->spans) {
            start_span(holder, sharer_of(trial, trial->span), holder->member ? span_end(trial, trial->to) : HS_ALL);
            return HSUMMA_OK;
        }
    }
    status = agree_on(trial, trial->step, worked, &complete);
    if (!status && complete) { /* candidates that do not share have time 0 per panel, which `fastest` ignores */
        trial->turn = fastest(trial, trial->step, 0);
        start_span(holder, trial->turn, HS_ALL);
    }
    return status;
}
