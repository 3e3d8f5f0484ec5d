#include "hsumma/plan/layered.h"

#include "hsumma/plan/plan.h"
#include "hsumma/search/search_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hs_layered_wanted(const struct hs_request *request, const struct hs_settings *settings)
{
    return settings->layers > 1 || request->desc[HS_B]->grid != request->desc[HS_A]->grid ||
           request->desc[HS_C]->grid != request->desc[HS_A]->grid;
}

static int by_number(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return a < b ? -1 : a > b;
}

static int processes_of(const hsumma_grid *grid)
{
    return grid->grid.extent[0] * grid->grid.extent[1];
}

/* The ranks of a grid in ascending order. */
static int *sorted_ranks(hsumma_context *ctx, const hsumma_grid *grid)
{
    size_t count = (size_t)processes_of(grid);
    int *rank = hs_get(&ctx->memory, count, sizeof *rank);
    if (rank) {
        memcpy(rank, grid->rank, count * sizeof *rank);
        qsort(rank, count, sizeof *rank, by_number);
    }
    return rank;
}

/* Whether a list of ranks in ascending order has exactly those of another grid. */
static hsumma_status check_ranks(hsumma_context *ctx, const int *rank, int count, const hsumma_grid *grid, char name)
{
    int *other = sorted_ranks(ctx, grid);
    if (!other)
        return HSUMMA_ERR_MEMORY;
    int same = processes_of(grid) == count && memcmp(rank, other, (size_t)count * sizeof *rank) == 0;
    hs_put(&ctx->memory, other);
    return same ? HSUMMA_OK
                : hs_fail(&ctx->message, HSUMMA_ERR_UNSUPPORTED,
                          "%c is on a grid of other processes than A; expected the same processes in any order", name);
}

/* hs_layers_count multiplies two dimensions; each of A, B and C has at most 2^58 elements then. */
static hsumma_status check_sizes(const int64_t extent[3], struct hs_message *message)
{
    const int64_t most = (int64_t)1 << 58;
    for (int d = 0; d < 3; d++) {
        int64_t one = extent[d], other = extent[(d + 1) % 3];
        if (one > most || other > most || (one > 0 && other > most / one))
            return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                           "a matrix of %" PRId64 " x %" PRId64 " in layers; expected at most 2^58 elements", one,
                           other);
    }
    return HSUMMA_OK;
}

/* Refuses requests that layers do not support. */
static hsumma_status check_words(hsumma_context *ctx, const struct hs_request *request,
                                 const struct hs_settings *settings, int processes)
{
    struct hs_message *message = &ctx->message;
    if (settings->layers > processes)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "layers=%d; expected 1 to %d, the processes of the grid",
                       settings->layers, processes);
    if (request->alone)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "layers=%d is not for p?gemm or hsumma_choose_grid; expected layers=1", settings->layers);
    if (ctx->device)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "layers, and matrices on several grids, are not for contexts with a device");
    if (settings->tune == HS_TUNE_MEASURE)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "tune=measure does not measure layers or matrices on several grids; expected another tune");
    const struct hs_alg *by_mpi = hs_named_row_of_mpi(settings, &ctx->own);
    if (by_mpi)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "%s=%s is not for layers, or several grids",
                       by_mpi->collective == HS_BCAST ? "bcast" : "reduce", by_mpi->name);
    return check_sizes(request->extent, message);
}

hsumma_status hs_layered_create(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered **result)
{
    const hsumma_grid *grid = request->desc[HS_A]->grid;
    int processes = processes_of(grid), *rank = sorted_ranks(ctx, grid);
    struct hs_layered *layered = hs_get_zero(&ctx->memory, 1, sizeof *layered);
    hsumma_status status = rank && layered ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    *result = NULL;
    for (int x = HS_B; x <= HS_C && !status; x++)
        status = check_ranks(ctx, rank, processes, request->desc[x]->grid, "ABC"[x]);
    if (!status)
        status = check_words(ctx, request, settings, processes);
    if (!status) {
        layered->count = settings->layers > 1 ? settings->layers : 1;
        layered->mine = -1;
        hs_layered_place(layered, request, processes);
        layered->grid = hs_get_zero(&ctx->memory, (size_t)layered->count, sizeof(hsumma_grid *));
        status = layered->grid ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    if (status == HSUMMA_ERR_MEMORY)
        hs_fail(&ctx->message, status, "no memory for layers");
    struct hs_vote vote = {.status = status, .about = HS_ABOUT_MEMORY, .hash = status ? 0 : layered->count};
    struct hs_verdict verdict = request->alone ? hs_verdict_alone(vote, ctx->comm.rank) : hs_context_agree(ctx, vote);
    status = hs_plan_explain(ctx, status, verdict);
    if (!status && !verdict.alike)
        status = hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT, "processes have given different options or grids");
    for (int l = 0; l < (layered ? layered->count : 0) && !status; l++) {
        int each = layered->extent[0] * layered->extent[1];
        status = hs_grid_create(ctx, layered->extent, 'A', &rank[l * each], &layered->grid[l]);
        if (!status && layered->grid[l]->grid.coord[0] >= 0)
            layered->mine = l;
    }
    hs_put(&ctx->memory, rank);
    if (status)
        hs_layered_destroy(ctx, layered);
    else
        *result = layered;
    return status;
}

/* The layer's plan: the caller's words, of one layer, in what the limit leaves. */
static hsumma_status plan_layer(hsumma_plan *plan, const struct hs_request *request, const hsumma_desc desc[3],
                                int64_t limit)
{
    enum { MORE = 80 };
    struct hs_layered *layered = plan->layered;
    hsumma_context *ctx = plan->ctx;
    const char *words = request->options ? request->options : "";
    size_t room = strlen(words) + MORE;
    char *options = hs_get(&ctx->memory, room, 1);
    if (!options)
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for the plan of a layer");
    snprintf(options, room, "%s layers=1 workspace_limit=%" PRId64, words, limit > 0 ? limit : 1);
    struct hs_request inner = *request;
    inner.options = options;
    inner.alone = 1;
    for (int x = 0; x < 3; x++)
        inner.desc[x] = &desc[x];
    inner.extent[HS_K] = hs_layered_axis_of_k(request, HS_A) ? desc[HS_A].n : desc[HS_A].m;
    hsumma_status status = hs_plan_create(ctx, &inner, 1, &layered->inner);
    hs_put(&ctx->memory, options);
    return status;
}

/* The caller's layout of an operand. */
static struct hs_layout given_layout(const hsumma_plan *plan, const struct hs_request *request, int operand)
{
    return hs_layout_of(request->desc[operand]->grid, &plan->problem.view[operand]);
}

static int same_layout(const struct hs_layout *a, const struct hs_layout *b)
{
    return a->extent[0] == b->extent[0] && a->extent[1] == b->extent[1] && hs_axis_same(&a->axis[0], &b->axis[0]) &&
           hs_axis_same(&a->axis[1], &b->axis[1]) &&
           memcmp(a->rank, b->rank, (size_t)(a->extent[0] * a->extent[1]) * sizeof *a->rank) == 0;
}

/* Finds which of A and B already have the layout of the layers. */
static hsumma_status find_in_place(hsumma_plan *plan, const struct hs_request *request)
{
    struct hs_layered *layered = plan->layered;
    int each = layered->extent[0] * layered->extent[1];
    int *rank = hs_get(&plan->ctx->memory, (size_t)(each * layered->count), sizeof *rank);
    for (int x = 0; x < 2 && rank; x++) {
        struct hs_layout from = given_layout(plan, request, x), to = hs_layered_layout(layered, request, x, 0, rank);
        layered->in_place[x] = same_layout(&from, &to);
    }
    hs_put(&plan->ctx->memory, rank);
    return rank ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

/* The three redistributions, in buffers of at most `limit` bytes. */
static hsumma_status make_moves(hsumma_plan *plan, const struct hs_request *request, int64_t limit, int64_t *needs)
{
    struct hs_layered *layered = plan->layered;
    hsumma_context *ctx = plan->ctx;
    int each = layered->extent[0] * layered->extent[1];
    int *rank = hs_get(&ctx->memory, (size_t)(each * layered->count), sizeof *rank);
    struct hs_layout *of_c = hs_get(&ctx->memory, (size_t)layered->count, sizeof *of_c);
    hsumma_status status = rank && of_c ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    for (int x = 0; x < 2 && !status; x++) {
        if (layered->in_place[x])
            continue;
        struct hs_layout from = given_layout(plan, request, x), to = hs_layered_layout(layered, request, x, 0, rank);
        status = hs_redistribution_init(&layered->move[x], &ctx->comm, HS_CHANNEL_MOVE, plan->problem.scalar, &from, 1,
                                        &to, limit, &ctx->memory, needs);
    }
    for (int l = 0; l < layered->count && !status; l++)
        of_c[l] = hs_layered_layout(layered, request, HS_C, l, rank);
    struct hs_layout to = given_layout(plan, request, HS_C);
    if (!status)
        status = hs_redistribution_init(&layered->move[HS_C], &ctx->comm, HS_CHANNEL_MOVE, plan->problem.scalar, of_c,
                                        layered->count, &to, limit, &ctx->memory, needs);
    hs_put(&ctx->memory, rank);
    hs_put(&ctx->memory, of_c);
    return status;
}

/* This process's parts, one after the other.  The process that has most needs *most bytes, at most `limit`. */
static hsumma_status make_parts(hsumma_plan *plan, const hsumma_desc desc[3], int64_t limit, int64_t *most)
{
    struct hs_layered *layered = plan->layered;
    int64_t size = (int64_t)plan->problem.scalar->size, at[3];
    *most = layered->bytes = 0;
    for (int x = 0; x < 3; x++) {
        struct hs_axis cols = hs_desc_axis(&desc[x], 1);
        const int *coord = desc[x].grid->grid.coord;
        int64_t columns = coord[1] >= 0 ? hs_axis_count(&cols, coord[1]) : 0;
        at[x] = layered->bytes;
        if (layered->in_place[x])
            continue;
        layered->bytes += (int64_t)hs_aligned((size_t)hs_bytes_of(columns, desc[x].ld, size));
        *most += hs_bytes_of(hs_axis_count_max(&layered->axis[x][0]), hs_axis_count_max(&layered->axis[x][1]), size);
    }
    if (*most > limit)
        return HSUMMA_ERR_WORKSPACE;
    layered->memory = hs_get(&plan->ctx->bulk, layered->bytes ? (size_t)layered->bytes : 1, 1);
    layered->partial = hs_get(&plan->ctx->memory, (size_t)layered->count, sizeof *layered->partial);
    if (!layered->memory || !layered->partial)
        return HSUMMA_ERR_MEMORY;
    for (int x = 0; x < 3; x++)
        layered->part[x] = (struct hs_matrix){layered->memory + at[x], desc[x].ld};
    for (int l = 0; l < layered->count; l++)
        layered->partial[l] = layered->part[HS_C];
    return HSUMMA_OK;
}

hsumma_status hs_layered_prepare(hsumma_plan *plan, const struct hs_request *request,
                                 const struct hs_settings *settings, struct hs_message *message)
{
    struct hs_layered *layered = plan->layered;
    hsumma_desc desc[3];
    const struct hs_view *view = plan->problem.view, *const views[3] = {&view[0], &view[1], &view[2]};
    int64_t limit = hs_workspace_limit(&settings->workspace, views, 3, plan->problem.scalar->size), most, needs = 0;
    for (int x = 0; x < 3; x++)
        desc[x] = hs_layered_desc(layered, request, x, layered->mine >= 0 ? layered->mine : 0);
    plan->ranking.workspace_limit = limit;
    most = 0;
    hsumma_status status = find_in_place(plan, request);
    if (!status)
        status = make_parts(plan, desc, limit, &most);
    if (!status)
        status = make_moves(plan, request, limit - most, &needs);
    if (status == HSUMMA_ERR_WORKSPACE)
        return hs_fail(message, status,
                       "layers=%d: the parts of A, B and C in %d layers of %d x %d need %" PRId64
                       " bytes on a process; workspace_limit allows %" PRId64 " (other layers, or a larger limit)",
                       layered->count, layered->count, layered->extent[0], layered->extent[1], most + needs, limit);
    if (!status && (status = plan_layer(plan, request, desc, limit - most)))
        return hs_fail(message, status, "%s", plan->ctx->message.text);
    size_t buffers = 0;
    for (int x = 0; x < 3; x++)
        buffers = layered->move[x].buffer_bytes > buffers ? layered->move[x].buffer_bytes : buffers;
    if (!status)
        status = hs_workspace_want(plan->ctx, buffers);
    plan->wants = !status;
    for (int x = 0; x < 3; x++)
        for (int i = 0; i < layered->move[x].sends; i++)
            layered->moved[x] += layered->move[x].transfer[i].elements * (int64_t)plan->problem.scalar->size;
    const struct hs_machine *machine = &plan->ctx->profile.machine;
    layered->seconds_per_byte = plan->ctx->profile.one_node && machine->node.beta > 0 ? machine->node.beta
                                : machine->network.eager > 0                          ? machine->network.beta_long
                                                                                      : machine->network.beta;
    int64_t inside = status ? 0 : hs_plan_bytes(layered->inner);
    layered->bytes +=
        (int64_t)buffers > inside ? (int64_t)buffers : inside; /* one after the other, in the same memory */
    return status ? hs_fail(message, status, "no memory for the parts of a layer") : HSUMMA_OK;
}

void hs_layered_destroy(hsumma_context *ctx, struct hs_layered *layered)
{
    if (!layered)
        return;
    hs_plan_destroy(layered->inner);
    if (!ctx->broken) { /* else MPI may still write to what it has */
        for (int x = 0; x < 3; x++)
            hs_redistribution_free(&layered->move[x], &ctx->memory);
        hs_put(&ctx->bulk, layered->memory);
        hs_put(&ctx->memory, layered->partial);
    }
    for (int l = 0; layered->grid && l < layered->count; l++)
        if (layered->grid[l])
            hs_grid_release(layered->grid[l]);
    hs_put(&ctx->memory, layered->grid);
    hs_put(&ctx->memory, layered);
}

/* The operand that the current step moves. */
static int operand_of(const struct hs_layered *layered)
{
    return layered->step == HS_LAYERED_C ? HS_C : (int)layered->step;
}

static void begin_step(hsumma_plan *plan)
{
    struct hs_layered *layered = plan->layered;
    const struct hs_scalar *scalar = plan->problem.scalar;
    char *buffers = plan->workspace->base;
    int x = operand_of(layered);
    if (layered->step == HS_LAYERED_PRODUCT) {
        for (int i = 0; i < 2; i++)
            layered->part[i] = layered->in_place[i] ? plan->matrix[i] : layered->part[i];
        if (layered->mine >= 0)
            hs_plan_begin_inner(layered->inner, &plan->alpha, layered->part, scalar->zero);
    } else if (x == HS_C) {
        hs_redistribution_start(&layered->move[x], layered->partial, &plan->beta, &plan->matrix[x], buffers);
    } else if (!layered->in_place[x]) {
        hs_redistribution_start(&layered->move[x], &plan->matrix[x], scalar->zero, &layered->part[x], buffers);
    }
}

void hs_layered_begin(hsumma_plan *plan)
{
    struct hs_layered *layered = plan->layered;
    layered->sent_bytes = plan->ctx->comm.bytes_sent;
    layered->sent_messages = plan->ctx->comm.messages_sent;
    plan->workspace = hs_workspace_hold(plan->ctx->workspace);
    /* alpha = 0 never reads A or B */
    layered->step = plan->problem.scalar->is_zero(&plan->alpha) ? HS_LAYERED_PRODUCT : HS_LAYERED_A;
    begin_step(plan);
}

hsumma_status hs_layered_advance(hsumma_plan *plan, int *worked, int *over)
{
    struct hs_layered *layered = plan->layered;
    hsumma_status status = HSUMMA_OK;
    for (*over = 0; !status && !*over;) {
        int done = 1, x = operand_of(layered);
        if (layered->step == HS_LAYERED_PRODUCT)
            status = layered->mine >= 0 ? hs_plan_advance_inner(layered->inner, worked, &done) : HSUMMA_OK;
        else if (!layered->in_place[x])
            status = hs_redistribution_advance(&layered->move[x], worked, &done);
        if (status || !done)
            break;
        *worked = 1;
        layered->step++;
        *over = layered->step == HS_LAYERED_OVER;
        if (!*over)
            begin_step(plan);
    }
    if (*over) {
        layered->seconds = hs_now() - plan->began;
        layered->sent_bytes = plan->ctx->comm.bytes_sent - layered->sent_bytes;
        layered->sent_messages = plan->ctx->comm.messages_sent - layered->sent_messages;
    }
    return status;
}

hsumma_plan *hs_layered_running(const hsumma_plan *plan)
{
    const struct hs_layered *layered = plan->layered;
    return layered->step == HS_LAYERED_PRODUCT && layered->mine >= 0 ? layered->inner : NULL;
}
