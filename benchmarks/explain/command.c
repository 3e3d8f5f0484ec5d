/* hsumma explain: makes the plans and returns the exit status. One process plans for a grid of which it is not a
 * member. */
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "api/context_parts.h"
#include "common/command.h"
#include "explain/command.h"
#include "hsumma/context/tiling.h"
#include "product/problem.h"
#include "report/columns.h"
#include "report/progress.h"

/* Makes a grid that does not contain this process, but with which this process can plan. */
static hsumma_grid *make_grid(hsumma_context *ctx, int nprow, int npcol, char order)
{
    const struct hs_topology *topology = &ctx->comm.topology;
    const int extent[2] = {nprow, npcol};
    size_t count = (size_t)nprow * (size_t)npcol;
    hsumma_grid *grid = hs_get_zero(&ctx->memory, 1, sizeof *grid);
    int *rank = hs_get(&ctx->memory, count, sizeof *rank);

    for (size_t i = 0; rank && i < count; i++)
        rank[i] = (int)i;
    if (!grid || !rank || hs_grid_order(extent, order, topology, rank, &ctx->memory)) {
        hs_put(&ctx->memory, grid);
        hs_put(&ctx->memory, rank);
        return NULL;
    }
    *grid = (hsumma_grid){.ctx = ctx, .holders = 1, .grid = {{nprow, npcol}, {-1, -1}, rank}, .rank = rank};
    grid->shared.bytes = topology->division[HS_NODE].parts > 1 ? (size_t)ctx->tile_bytes : 0;
    ctx->holders++;
    return grid;
}

/* The descriptor of operand x; the library checks the values of --layout. */
static hsumma_status describe(explanation *e, int x, struct hs_message *message)
{
    const arguments *args = &e->args->common;
    const int64_t *layout = args->layout[x], extent[3] = {args->m, args->n, args->k};
    int flipped = x != HS_C && (x == HS_A ? args->transa : args->transb) != 'N';
    int64_t size[2] = {extent[hs_operand_dims[x][flipped]], extent[hs_operand_dims[x][!flipped]]};

    for (int axis = 0; axis < 2; axis++) {
        if (__builtin_add_overflow(size[axis], layout[LAYOUT_I + axis], &size[axis]) || size[axis] > INT64_MAX >> 8)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT,
                           "%c has more than 2^55 rows or columns; give smaller -m, -n, -k, i or j", "ABC"[x]);
        if (layout[LAYOUT_M + axis] >= 0)
            size[axis] = layout[LAYOUT_M + axis];
    }
    layout_describe(&e->desc[x], e->grid, size[0], size[1], args->nb, layout);
    return HSUMMA_OK;
}

static hsumma_status make_plan(explanation *e, const char *options, hsumma_plan **plan)
{
    const arguments *args = &e->args->common;

    return hsumma_plan_create(e->ctx, args->type, args->transa, args->transb, args->m, args->n, args->k, &e->desc[0],
                              &e->desc[1], &e->desc[2], options, plan);
}

/* Plans for every group grid I x J; keeps the message for one that the library refuses. */
static hsumma_status make_hierarchies(explanation *e)
{
    group_grid *grids = group_grids(e->whole[0], e->whole[1], &e->hierarchy_count);
    hierarchy *least = NULL;
    char options[64];

    e->hierarchies = calloc((size_t)e->hierarchy_count + 1, sizeof *e->hierarchies);
    if (!grids || !e->hierarchies) {
        free(grids);
        e->hierarchy_count = 0;
        return HSUMMA_ERR_MEMORY;
    }
    for (int i = 0; i < e->hierarchy_count; i++) {
        hierarchy *h = &e->hierarchies[i];

        h->grid = grids[i];
        snprintf(options, sizeof options, "groups=%s", h->grid.name);
        if (make_plan(e, options, &h->plan)) {
            snprintf(h->message, sizeof h->message, "%s", hsumma_message(e->ctx));
            continue;
        }
        hsumma_plan_query(h->plan, &h->info);
        h->outer = h->info.nlevels > 1 ? h->info.level[0].block : -1;
        h->block = h->info.level[h->info.nlevels - 1].block;
        if (!least || h->info.predicted_comm_seconds < least->info.predicted_comm_seconds * (1 - 1e-9))
            least = h;
    }
    if (least)
        least->least = 1;
    free(grids);
    return HSUMMA_OK;
}

/* Plans with more memory than the limit allows. A plan that the library refuses is none. */
static void plan_with_memory(explanation *e)
{
    hsumma_plan *plan = NULL;
    hsumma_plan_info info;

    if (make_plan(e, "workspace_limit=100%", &plan) == HSUMMA_OK) {
        hsumma_plan_query(plan, &info);
        if (info.workspace_limit_bytes > e->info.workspace_limit_bytes)
            e->more = (with_memory){info.predicted_seconds, plan->choice.workspace_bytes, info.lookahead};
    }
    hsumma_plan_free(&plan);
}

/* Replaces the profile of this machine by that of the explained machine. */
static void adopt(hsumma_context *ctx, const struct hs_profile *profile)
{
    ctx->profile = *profile;
    ctx->note[0] = 0;
    if (!strcmp(ctx->texts.tuned, "auto")) { /* the usual tuned file is of this machine */
        hs_tuned_free(&ctx->tuned, &ctx->memory);
        hs_rules_free(&ctx->team.selector.tuned, &ctx->memory);
    }
}

/* Reads the profile that the user named, if the context ignored it because it is of another machine. */
static hsumma_status read_profile(hsumma_context *ctx, struct hs_message *message)
{
    const char *name = ctx->texts.profile;
    struct hs_profile profile = hs_profile_builtin;
    struct hs_message why = {""};

    if (!strcmp(name, "auto") || !strcmp(name, "builtin") ||
        strncmp(ctx->profile.source, profile.source, strlen(profile.source)))
        return HSUMMA_OK;
    char *text = hs_read_file(&hs_heap, name);
    if (!text)
        return hs_fail(message, errno == ENOMEM ? HSUMMA_ERR_MEMORY : HSUMMA_ERR_OPTION, "profile=%s: %s", name,
                       strerror(errno));
    hsumma_status status = hs_profile_read(text, NULL, &profile, &why);
    hs_put(&hs_heap, text);
    if (status)
        return hs_fail(message, status, "profile=%s: %s", name, why.text);
    size_t end = strlen(name), most = sizeof profile.source - 1; /* keep the end of a long name */
    memcpy(profile.source, name + (end > most ? end - most : 0), (end > most ? most : end) + 1);
    adopt(ctx, &profile);
    return HSUMMA_OK;
}

/* Makes the context as the processes of the grid would. */
static hsumma_status make_context(explanation *e, const char *options, struct hs_message *message)
{
    const explain_arguments *args = e->args;
    int64_t processes = args->ranks ? args->ranks : (int64_t)args->common.nprow * args->common.npcol;
    hsumma_status status = hsumma_create(MPI_COMM_SELF, options, &e->ctx, message->text, sizeof message->text);

    if (!status)
        status = read_profile(e->ctx, message);
    if (status)
        return status;
    if (args->model.text) {
        const struct hs_profile profile =
            explain_model_profile(&args->model, type_size(args->common.type), args->collective != NULL);
        adopt(e->ctx, &profile);
    }
    e->ctx->threads = e->ctx->threads_model = 1;
    e->ctx->tile_bytes = (uint64_t)64 << 30; /* assume ample memory on a node */
    hs_clock_memo_begin(&e->ctx->memo, &e->ctx->profile, &e->ctx->memory);
    struct hs_options *words = &e->ctx->options;
    e->layers_wanted = hs_options_layers(words, 0);
    words->settings.layers = 1;
    words->said_by[HS_OPT_LAYERS] = HS_BY_CONTEXT;
    return explain_places(e, (int)processes, message);
}

/* Sets e->whole to the given grid, or with --ranks to the model's choice. */
static hsumma_status choose_grid(explanation *e, struct hs_message *message)
{
    const arguments *args = &e->args->common;
    double seconds;

    e->whole[0] = args->nprow;
    e->whole[1] = args->npcol;
    if (!e->args->ranks)
        return HSUMMA_OK;
    hsumma_status status =
        hsumma_choose_grid(e->ctx, args->type, args->transa, args->transb, args->m, args->n, args->k, args->nb,
                           (int)e->args->ranks, NULL, &e->whole[0], &e->whole[1], &seconds);
    if (status)
        hs_fail(message, status, "--ranks %lld: %s", (long long)e->args->ranks, hsumma_message(e->ctx));
    return status;
}

/* Times planning; cold: clears the clock's memo before each plan. */
static hsumma_status time_plans(explanation *e, int cold, spread *result, struct hs_message *message)
{
    int count = (int)e->args->timing;
    double *seconds = calloc((size_t)count, sizeof *seconds);
    hsumma_status status = HSUMMA_OK;

    if (!seconds)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for %d times", count);
    for (int i = 0; i < count && !status; i++) {
        hsumma_plan *plan = NULL;

        if (cold)
            hs_clock_memo_begin(&e->ctx->memo, &e->ctx->profile, &e->ctx->memory);
        double start = MPI_Wtime();
        status = make_plan(e, NULL, &plan);
        if (!status)
            status = explain_take_layers(e);
        seconds[i] = MPI_Wtime() - start;
        hsumma_plan_free(&plan);
    }
    if (status)
        hs_fail(message, status, "%s", hsumma_message(e->ctx));
    else
        *result = spread_of(seconds, count);
    free(seconds);
    return status;
}

hsumma_status explain_lay_out(explanation *e, char order, struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;

    e->grid = make_grid(e->ctx, e->whole[0], e->whole[1], order);
    if (!e->grid)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a grid of %dx%d", e->whole[0], e->whole[1]);
    for (int x = 0; x < 3 && !status; x++)
        status = describe(e, x, message);
    if (status)
        return status;
    status = make_plan(e, NULL, &e->plan);
    if (status)
        return hs_fail(message, status, "%s", hsumma_message(e->ctx));
    if (e->plan->sections)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "guard=panels: this command does not describe sections of k; expected guard=product or off");
    hsumma_plan_query(e->plan, &e->info);
    e->nprow = e->plan->problem.grid.extent[0];
    e->npcol = e->plan->problem.grid.extent[1];
    e->processes = e->nprow * e->npcol;
    return HSUMMA_OK;
}

static hsumma_status make_explanation(explanation *e, struct hs_message *message)
{
    hsumma_status status = choose_grid(e, message);

    if (!status)
        status = explain_lay_out(e, e->args->order, message);
    if (status)
        return status;
    e->groups = explain_condition(e);
    status = explain_read(e, message);
    if (!status) {
        status = bounds_of(&e->bounds, e->counted ? &e->received : NULL, e->plan, &e->info, e->workspace_max);
        if (status)
            hs_fail(message, status, "lower bounds: %s", hsumma_status_string(status));
    }
    if (!status)
        status = explain_entering(e, message);
    if (!status)
        status = explain_layers(e, message);
    if (!status && (e->args->show & SHOW_PLAN || e->args->common.format == REPORT_JSON))
        plan_with_memory(e);
    if (!status && e->args->show & SHOW_GROUPS && make_hierarchies(e))
        status = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the hierarchies");
    if (!status && e->args->timing)
        status = time_plans(e, 1, &e->cold, message);
    if (!status && e->args->timing)
        status = time_plans(e, 0, &e->warm, message);
    return status;
}

static void free_explanation(explanation *e)
{
    for (int i = 0; i < e->hierarchy_count; i++)
        hsumma_plan_free(&e->hierarchies[i].plan);
    free(e->hierarchies);
    free(e->layers);
    explain_entering_free(e);
    explain_read_free(e);
    bounds_count_free(&e->received);
    hsumma_plan_free(&e->plan);
    hsumma_grid_free(&e->grid);
    hsumma_free(&e->ctx);
}

int explain_run(const void *given, const char *options, MPI_Comm comm)
{
    const explain_arguments *args = given;
    struct hs_message message = {""};
    explanation e;
    hsumma_status status;
    progress bar; /* large numbers of processes take seconds */
    int written = 1;

#ifdef __GLIBC__ /* else it returns and clears the memory for the lists of each process */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc allows */
#endif
    memset(&e, 0, sizeof e);
    e.args = args;
    progress_begin(&bar, 0, args->quiet);
    progress_expect(&bar, args->processes.count ? "bounds" : args->collective ? "algorithms" : "plans", 0);
    status = args->processes.count ? HSUMMA_OK : make_context(&e, options, &message);
    if (args->processes.count)
        written = explain_free(args, stdout);
    else if (!status && args->collective)
        status = explain_collective(args, e.ctx, stdout, &message);
    else if (!status)
        status = make_explanation(&e, &message);
    progress_end(&bar);
    if (!status && e.plan)
        written = args->common.format == REPORT_JSON ? explain_json(&e, stdout) : explain_table(&e, stdout);
    free_explanation(&e);
    if (command_fail(comm, status != HSUMMA_OK, "explain: %s",
                     message.text[0] ? message.text : hsumma_status_string(status)))
        return command_code(status);
    return command_fail(comm, !written || !report_written(stdout), "the report could not be written");
}
