#include "hsumma/plan/layered.h"

#include "base/hash.h"
#include "hsumma/plan/plan.h"
#include "hsumma/search/search_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hs_layered_wanted(const struct hs_request *request, const struct hs_settings *settings)
{
    const hsumma_grid *grid = request->desc[HS_A]->grid;
    return request->layers > 1 || settings->layers > 1 || request->desc[HS_B]->grid != grid ||
           request->desc[HS_C]->grid != grid;
}

static int processes_of(const hsumma_grid *grid)
{
    return grid->grid.extent[0] * grid->grid.extent[1];
}

int hs_layered_at_most(const struct hs_request *request, int layers)
{
    int processes = processes_of(request->desc[HS_A]->grid);
    return layers < processes ? layers : processes;
}

int hs_layered_together(const hsumma_context *ctx, const struct hs_request *request, const struct hs_settings *settings)
{
    return request->alone && !request->priced && (settings->layers > 1 || hs_layered_may_choose(ctx, settings));
}

static int by_number(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return a < b ? -1 : a > b;
}

int *hs_layered_ranks(hsumma_context *ctx, const hsumma_grid *grid)
{
    size_t count = (size_t)processes_of(grid);
    int *rank = hs_get(&ctx->memory, count, sizeof *rank);
    if (rank) {
        for (size_t i = 0; i < count; i++)
            rank[i] = hs_grid_rank(&grid->grid, (int)i);
        qsort(rank, count, sizeof *rank, by_number);
    }
    return rank;
}

/* Checks that a sorted list of ranks equals the ranks of another grid. */
static hsumma_status check_ranks(hsumma_context *ctx, const int *rank, int count, const hsumma_grid *grid, char name)
{
    int *other = hs_layered_ranks(ctx, grid);
    if (!other)
        return HSUMMA_ERR_MEMORY;
    int same = processes_of(grid) == count && memcmp(rank, other, (size_t)count * sizeof *rank) == 0;
    hs_put(&ctx->memory, other);
    return same ? HSUMMA_OK
                : hs_fail(&ctx->message, HSUMMA_ERR_UNSUPPORTED,
                          "the grids of A and %c have different processes; expected the same processes, in any order",
                          name);
}

hsumma_status hs_layered_check_sizes(const int64_t extent[3], struct hs_message *message)
{
    const int64_t most = (int64_t)1 << 58;
    for (int d = 0; d < 3; d++) {
        int64_t one = extent[d], other = extent[(d + 1) % 3];
        if (one > most || other > most || (one > 0 && other > most / one))
            return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                           "%c has dimensions %" PRId64 " and %" PRId64
                           "; expected at most 2^58 elements with layers or several grids",
                           "CBA"[d], one, other);
    }
    return HSUMMA_OK;
}

/* Refuses requests that layers do not support. */
static hsumma_status check_words(hsumma_context *ctx, const struct hs_request *request,
                                 const struct hs_settings *settings, int processes)
{
    struct hs_message *message = &ctx->message;
    if (settings->layers > processes)
        return hs_fail(message, HSUMMA_ERR_ARGUMENT, "layers=%d; expected 1 to %d, the number of processes of the grid",
                       settings->layers, processes);
    if (settings->guard & HS_GUARD_PANELS) /* each section would have parts of A, B and C of its own */
        return hs_fail(
            message, HSUMMA_ERR_UNSUPPORTED,
            "guard=panels is not supported with layers or matrices on several grids; expected guard=product");
    if (request->alone)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "layers=%d is not supported by hsumma_choose_grid; expected layers=1", settings->layers);
    if (ctx->device)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "layers and matrices on several grids are not supported in contexts with a device; expected "
                       "layers=1 and one grid, or device=none");
    if (settings->tune == HS_TUNE_MEASURE)
        return hs_fail(
            message, HSUMMA_ERR_UNSUPPORTED,
            "tune=measure does not support layers or matrices on several grids; expected tune=estimate or off");
    const struct hs_alg *by_mpi = hs_named_row_of_mpi(settings, &ctx->own);
    if (by_mpi)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                       "%s=%s is not supported with layers or matrices on several grids; expected another algorithm",
                       hs_option_of(by_mpi->collective), by_mpi->name);
    return hs_layered_check_sizes(request->extent, message);
}

hsumma_status hs_layered_create(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered **result)
{
    const hsumma_grid *grid = request->desc[HS_A]->grid;
    int processes = processes_of(grid), *rank = hs_layered_ranks(ctx, grid);
    struct hs_layered *layered = hs_get_zero(&ctx->memory, 1, sizeof *layered);
    hsumma_status status = rank && layered ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    *result = NULL;
    for (int x = HS_B; x <= HS_C && !status; x++)
        status = check_ranks(ctx, rank, processes, request->desc[x]->grid, "ABC"[x]);
    if (!status)
        status = check_words(ctx, request, settings, processes);
    if (!status) {
        layered->count = settings->layers > 1 ? settings->layers : request->layers > 1 ? request->layers : 1;
        layered->mine = -1;
        if (!request->layers && hs_layered_may_choose(ctx, settings))
            status = hs_layered_choose(ctx, request, settings, (struct hs_layered_rival){-1, 0, 0}, &layered->count);
    }
    if (!status) {
        hs_layered_place(layered, request, processes);
        layered->grid = hs_get_zero(&ctx->memory, (size_t)layered->count, sizeof(hsumma_grid *));
        status = layered->grid ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    }
    if (status == HSUMMA_ERR_MEMORY)
        hs_fail(&ctx->message, status, "no memory for layers");
    struct hs_vote vote = {
        .status = status, .about = HS_ABOUT_MEMORY, .hash = status ? 0 : hs_request_hash(request, 0) + layered->count};
    struct hs_verdict verdict;
    status = hs_request_agree(ctx, request, settings, vote, &verdict);
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

hsumma_status hs_layered_plan_inner(hsumma_context *ctx, const struct hs_request *request,
                                    const struct hs_layered *layered, int layer, int64_t limit, int silent,
                                    hsumma_plan **inner)
{
    hsumma_desc desc[3], largest[3];
    struct hs_request one = *request;
    one.alone = 1;
    one.silent = silent;
    one.unguarded = 1;
    one.layers = 1;
    one.limit = limit > 0 ? limit : 1;
    one.largest = largest;
    for (int x = 0; x < 3; x++) {
        desc[x] = hs_layered_desc(layered, request, x, layer);
        largest[x] = hs_layered_desc(layered, request, x, 0);
        largest[x].grid = desc[x].grid;
        one.desc[x] = &desc[x];
    }
    one.extent[HS_K] = hs_layered_share_of_k(request, desc);
    return hs_plan_create(ctx, &one, 1, inner);
}

/* Makes the redistributions of matrices that are not in place, each with buffers of at most `limit` bytes.  The
 * redistributions of A and B run at the same time, so they use different channels. */
static hsumma_status make_moves(hsumma_plan *plan, const struct hs_request *request, int64_t limit, int64_t *needs)
{
    static const int channel[] = {HS_CHANNEL_MOVE, HS_CHANNEL_MOVE_B, HS_CHANNEL_MOVE};
    struct hs_layered *layered = plan->layered;
    hsumma_context *ctx = plan->ctx;
    struct hs_layered_ends ends;
    hsumma_status status = hs_layered_ends_make(layered, request, &plan->problem, &ctx->memory, &ends);
    for (int x = 0; x < 3 && !status; x++)
        if (!layered->in_place[x])
            status =
                hs_redistribution_init(&layered->move[x], &ctx->comm, channel[x], plan->problem.scalar, ends.source[x],
                                       ends.sources[x], ends.target[x], limit, &ctx->memory, needs);
    if (!status)
        status = hs_layered_move_seconds(ctx, layered, &ends, plan->problem.scalar->size, limit);
    hs_layered_ends_free(&ends, &ctx->memory);
    return status;
}

/* Allocates this process's parts in one block.  Sets *most to the bytes of the largest parts of any process, which must
 * not exceed `limit`. */
static hsumma_status make_parts(hsumma_plan *plan, const hsumma_desc desc[3], int64_t limit, int64_t *most)
{
    struct hs_layered *layered = plan->layered;
    int64_t size = (int64_t)plan->problem.scalar->size, at[3];
    layered->bytes = 0;
    *most = hs_layered_part_bytes(layered, plan->problem.scalar->size);
    for (int x = 0; x < 3; x++) {
        struct hs_axis cols = hs_desc_axis(&desc[x], 1);
        const int *coord = desc[x].grid->grid.coord;
        int64_t columns = coord[1] >= 0 ? hs_axis_count(&cols, coord[1]) : 0;
        at[x] = layered->bytes;
        if (layered->in_place[x])
            continue;
        layered->bytes += (int64_t)hs_aligned((size_t)hs_bytes_of(columns, desc[x].ld, size));
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
    const int layer = layered->mine >= 0 ? layered->mine : 0;
    hsumma_desc desc[3];
    int64_t limit = hs_workspace_limit(&settings->workspace, plan->problem.view, 3, plan->problem.scalar->size);
    int64_t most = 0, needs = 0;
    for (int x = 0; x < 3; x++)
        desc[x] = hs_layered_desc(layered, request, x, layer);
    plan->ranking.workspace_limit = limit;
    hsumma_status status = hs_layered_find_in_place(layered, request, &plan->problem, &plan->ctx->memory);
    if (!status)
        status = make_parts(plan, desc, limit, &most);
    if (!status)
        status = make_moves(plan, request, (limit - most) / 2, &needs);
    if (status == HSUMMA_ERR_WORKSPACE)
        return hs_fail(message, status,
                       "layers=%d: the parts of A, B and C on layers of %d x %d processes need at least %" PRId64
                       " bytes on a process; workspace_limit allows %" PRId64
                       "; use another number of layers, or a larger workspace_limit",
                       layered->count, layered->extent[0], layered->extent[1], most + 2 * needs, limit);
    if (!status && (status = hs_layered_plan_inner(plan->ctx, request, layered, layer, limit - most, request->silent,
                                                   &layered->inner)))
        return status == HSUMMA_ERR_WORKSPACE
                   ? hs_fail(message, status,
                             "layers=%d: the parts of A, B and C use %" PRId64 " of the %" PRId64
                             " bytes of workspace_limit; of the rest: %.300s",
                             layered->count, most, limit, plan->ctx->message.text)
                   : hs_fail(message, status, "%s", plan->ctx->message.text);
    size_t buffers = layered->move[HS_A].buffer_bytes + layered->move[HS_B].buffer_bytes;
    if (layered->move[HS_C].buffer_bytes > buffers)
        buffers = layered->move[HS_C].buffer_bytes;
    if (!status)
        status = hs_workspace_want(plan->ctx, buffers);
    plan->wants = !status;
    for (int x = 0; x < 3; x++)
        for (int i = 0; i < layered->move[x].sends; i++) {
            int64_t elements = layered->move[x].transfer[i].elements;
            layered->moved[x] += elements * (int64_t)plan->problem.scalar->size;
            layered->messages += hs_min(elements, layered->move[x].rounds);
        }
    int64_t inside = status ? 0 : hs_plan_bytes(layered->inner);
    /* the workspace holds the buffers and the inner plan's panels at different times */
    layered->bytes += (int64_t)buffers > inside ? (int64_t)buffers : inside;
    if (status == HSUMMA_ERR_MEMORY)
        return hs_fail(message, status,
                       "layers=%d: no memory for the parts of A, B and C or the buffers of their redistribution; use a "
                       "smaller workspace_limit or fewer layers",
                       layered->count);
    return status ? hs_fail(message, status, "layers=%d: %s", layered->count, hsumma_status_string(status)) : HSUMMA_OK;
}

hsumma_status hs_layered_agree(hsumma_context *ctx, hsumma_plan *plan, struct hs_vote vote, struct hs_verdict *verdict)
{
    const hsumma_plan *inner = plan && !vote.status ? plan->layered->inner : NULL;
    vote.hash = inner ? (int64_t)(hs_mix_text(0, inner->line) >> 1) : 0;
    *verdict = hs_context_agree(ctx, vote);
    if (inner)
        plan->layered->alike = verdict->alike;
    verdict->alike = 1;
    return hs_context_judge(ctx, vote.status, *verdict, "hsumma_plan_create", NULL, 0);
}

void hs_layered_destroy(hsumma_context *ctx, struct hs_layered *layered)
{
    if (!layered)
        return;
    hs_plan_destroy(layered->inner);
    for (int l = 0; layered->grid && l < layered->count; l++)
        if (layered->grid[l])
            hs_grid_release(layered->grid[l]);
    hs_put(&ctx->memory, layered->grid);
    if (ctx->broken) { /* after an MPI error MPI may still write to the rest */
        hs_keep(layered);
        return;
    }
    for (int x = 0; x < 3; x++)
        hs_redistribution_free(&layered->move[x], &ctx->memory);
    hs_put(&ctx->bulk, layered->memory);
    hs_put(&ctx->memory, layered->partial);
    hs_put(&ctx->memory, layered);
}

static void begin_step(hsumma_plan *plan)
{
    struct hs_layered *layered = plan->layered;
    const struct hs_scalar *scalar = plan->problem.scalar;
    char *buffers = plan->workspace->base;
    if (layered->step == HS_LAYERED_OUTWARD) {
        hs_redistribution_start(&layered->move[HS_C], layered->partial, &plan->beta, &plan->matrix[HS_C], buffers,
                                plan->ctx->comm.checks_messages);
    } else if (layered->step == HS_LAYERED_PRODUCT) {
        for (int x = 0; x < 2; x++)
            layered->part[x] = layered->in_place[x] ? plan->matrix[x] : layered->part[x];
        if (layered->mine >= 0)
            hs_plan_begin_inner(layered->inner, &plan->alpha, layered->part, scalar->zero);
    } else {
        for (int x = 0; x < 2; x++) {
            if (!layered->in_place[x])
                hs_redistribution_start(&layered->move[x], &plan->matrix[x], scalar->zero, &layered->part[x], buffers,
                                        plan->ctx->comm.checks_messages);
            buffers += layered->move[x].buffer_bytes;
        }
    }
}

void hs_layered_begin(hsumma_plan *plan)
{
    struct hs_layered *layered = plan->layered;
    layered->sent_bytes = plan->ctx->comm.bytes_sent;
    layered->sent_messages = plan->ctx->comm.messages_sent;
    plan->workspace = hs_workspace_hold(plan->ctx->workspace);
    /* alpha = 0 never reads A or B */
    layered->step = plan->problem.scalar->is_zero(&plan->alpha) ? HS_LAYERED_PRODUCT : HS_LAYERED_INWARD;
    begin_step(plan);
}

/* Advances the redistributions of A and B, or that of C. */
static hsumma_status advance_moves(struct hs_layered *layered, int *worked, int *done)
{
    const int inward = layered->step == HS_LAYERED_INWARD, last = inward ? HS_B : HS_C;
    hsumma_status status = HSUMMA_OK;
    for (int x = inward ? HS_A : HS_C; x <= last && !status; x++) {
        int through = 1;
        if (!layered->in_place[x])
            status = hs_redistribution_advance(&layered->move[x], worked, &through);
        *done &= through;
    }
    return status;
}

hsumma_status hs_layered_advance(hsumma_plan *plan, int *worked, int *over)
{
    struct hs_layered *layered = plan->layered;
    hsumma_status status = HSUMMA_OK;
    for (*over = 0; !status && !*over;) {
        int done = 1;
        if (layered->step != HS_LAYERED_PRODUCT)
            status = advance_moves(layered, worked, &done);
        else if (layered->mine >= 0)
            status = hs_plan_advance_inner(layered->inner, worked, &done);
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
