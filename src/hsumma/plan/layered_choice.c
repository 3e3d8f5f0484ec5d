/* layers=auto: the number of layers with the least predicted time within the workspace limit. */
#include "hsumma/cost/redistribution_cost.h"
#include "hsumma/plan/plan.h"
#include "hsumma/search/search_cells.h"

#include <math.h>

hsumma_status hs_layered_move_seconds(hsumma_context *ctx, struct hs_layered *layered,
                                      const struct hs_layered_ends *ends, size_t size, int64_t limit)
{
    int processes = layered->extent[0] * layered->extent[1] * layered->count;
    int known = ctx->comm.topology.size >= processes;
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; x < 3 && !status; x++)
        if (!layered->in_place[x])
            status = hs_redistribution_seconds(&ctx->profile, known ? &ctx->comm.topology : NULL,
                                               known ? ctx->comm.topology.size : processes, ends->source[x],
                                               ends->sources[x], ends->target[x], size, limit, &ctx->memory,
                                               &layered->move_seconds[x]);
    return status;
}

/* Prices the first layer's product. */
static hsumma_status price_product(hsumma_context *ctx, const struct hs_request *request,
                                   const struct hs_layered *layered, int64_t limit, double *seconds, int64_t *workspace)
{
    hsumma_plan *inner = NULL;
    hsumma_status status = hs_layered_plan_inner(ctx, request, layered, 0, limit, 1, &inner);
    if (!status)
        *seconds = inner->choice.prediction.seconds, *workspace = inner->choice.workspace_bytes;
    hs_plan_destroy(inner);
    return status;
}

/* The product whose layers are priced.  If the redistributions alone take `enough` seconds or more, the rest is not
 * priced; enough is -1 if everything is priced. */
struct question {
    const struct hs_request *request;
    const struct hs_problem *problem;
    int64_t limit;
    double enough;
    int free;
};

static hsumma_status price(hsumma_context *ctx, const struct question *question, struct hs_layered *layered,
                           struct hs_layered_price *result)
{
    const struct hs_request *request = question->request;
    const struct hs_problem *problem = question->problem;
    struct hs_layered_ends ends;
    size_t size = problem->scalar->size;
    int64_t workspace = 0;
    hsumma_status status = hs_layered_find_in_place(layered, request, problem, &ctx->memory);
    if (question->free)
        layered->in_place[HS_A] = layered->in_place[HS_B] = 1;
    *result = (struct hs_layered_price){.count = layered->count,
                                        .extent = {layered->extent[0], layered->extent[1]},
                                        .part_bytes = hs_layered_part_bytes(layered, size)};
    if (status)
        return status;
    if (result->part_bytes >= question->limit)
        return HSUMMA_ERR_WORKSPACE; /* without a message, because another number of layers may fit */
    status = hs_layered_ends_make(layered, request, problem, &ctx->memory, &ends);
    if (!status && question->free) /* the memory for A's rank table is unused, and serves C */
        ends.given[HS_C] = hs_layered_free_layout(layered, request, HS_C, ends.rank[HS_A]);
    if (!status)
        status = hs_layered_move_seconds(ctx, layered, &ends, size, (question->limit - result->part_bytes) / 2);
    hs_layered_ends_free(&ends, &ctx->memory);
    for (int x = 0; x < 3; x++)
        result->seconds += result->move[x] = layered->move_seconds[x];
    if (status || (question->enough >= 0 && result->seconds >= question->enough))
        return status;
    status = price_product(ctx, request, layered, question->limit - result->part_bytes, &result->product, &workspace);
    result->seconds += result->product;
    result->workspace_bytes = result->part_bytes + workspace;
    return status;
}

/* Prices layers on imagined grids. */
static hsumma_status price_count(hsumma_context *ctx, const struct question *question, int count,
                                 struct hs_layered_price *result)
{
    const struct hs_request *request = question->request;
    const hsumma_grid *given = request->desc[HS_A]->grid;
    struct hs_layered layered = {.count = count, .mine = -1};
    hsumma_grid *grid = hs_get(&ctx->memory, (size_t)count, sizeof *grid);
    int *rank = hs_layered_ranks(ctx, given);
    layered.grid = hs_get(&ctx->memory, (size_t)count, sizeof *layered.grid);
    hsumma_status status = grid && rank && layered.grid ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
    hs_layered_place(&layered, request, given->grid.extent[0] * given->grid.extent[1]);
    const int each = layered.extent[0] * layered.extent[1];
    for (int l = 0; l < count && !status; l++) {
        layered.grid[l] = &grid[l];
        status = hs_imagine_grid(ctx, layered.extent, &rank[l * each], &grid[l]);
    }
    if (!status)
        status = price(ctx, question, &layered, result);
    hs_put(&ctx->memory, layered.grid);
    hs_put(&ctx->memory, rank);
    hs_put(&ctx->memory, grid);
    return status;
}

hsumma_status hs_layered_price(hsumma_context *ctx, const struct hs_request *request, int count, int64_t limit,
                               struct hs_layered_price *result)
{
    struct hs_problem problem;
    struct hs_scalar scalar;
    const struct hs_settings *settings = &ctx->options.settings;
    hsumma_status status = hs_check_guard(ctx, settings, &ctx->message);
    if (status)
        return status;
    hs_plan_problem(request, settings, &scalar, &problem);
    const struct question question = {.request = request, .problem = &problem, .limit = limit, .enough = -1};
    return price_count(ctx, &question, count, result);
}

int hs_layered_may_choose(const hsumma_context *ctx, const struct hs_settings *settings)
{
    return settings->layers == HS_LAYERS_AUTO && !settings->bits && !ctx->profile.one_node && !ctx->device &&
           settings->levels <= 0 && settings->tune != HS_TUNE_MEASURE && settings->steps == 0 &&
           !(settings->guard & HS_GUARD_PANELS) && !hs_named_row_of_mpi(settings, &ctx->own);
}

/* A number of layers, and the estimated seconds by which numbers are ordered before they are priced. */
struct entrant {
    int count;
    double seconds;
};
enum { ENTRANTS = 16 };

static int64_t largest_part(const struct hs_axis axis[2])
{
    return hs_axis_count_max(&axis[0]) * hs_axis_count_max(&axis[1]);
}

/* About the largest number of processes of `other` with which a process of `axis` shares indices. */
static double met(const struct hs_axis *axis, const struct hs_axis *other)
{
    int64_t blocks = hs_cuts(hs_axis_count_max(axis), axis->nb), each = hs_cuts(axis->nb - 1, other->nb) + 1;
    return fmin((double)other->nprocs, (double)blocks * (double)each);
}

/* Messages of the process that sends or receives most, and elements that it or, if it is more, another one must send or
 * receive, when a matrix moves between two layouts. */
static void count_move(const struct hs_axis given[2], const struct hs_axis inside[2], int layers, double *messages,
                       double *elements)
{
    *messages += fmax(layers * met(&given[0], &inside[0]) * met(&given[1], &inside[1]),
                      met(&inside[0], &given[0]) * met(&inside[1], &given[1]));
    *elements += fmax((double)largest_part(given) * (layers > 1 ? layers - 1 : 1),
                      (double)largest_part(inside) * (layers > 1 ? (layers - 1.0) / layers : 1));
}

/* Elements of A and B that enter a node of `together` processes in a layer, whose processes are placed in near-square
 * tiles. */
static double entering(const struct hs_layered *layered, const struct hs_request *request, int together)
{
    const int P = layered->extent[0], Q = layered->extent[1], along = hs_layered_axis_of_k(request, HS_A);
    const double k = (double)layered->axis[HS_A][along].nb * layered->extent[along];
    const double rows = (double)hs_axis_count_max(&layered->axis[HS_C][0]) * k;
    const double cols = (double)hs_axis_count_max(&layered->axis[HS_C][1]) * k;
    double least = together * (rows + cols);
    for (int i = 1; i <= together && i <= P; i++)
        if (together % i == 0 && together / i <= Q)
            least = fmin(least, i * rows * (Q - together / i) / Q + together / i * cols * (P - i) / P);
    return P * Q <= together ? 0 : least;
}

/* Estimates the seconds of a product with layers, without its local products. */
static double estimate(const struct hs_machine *machine, const struct question *question,
                       const struct hs_layered *layered, int together)
{
    const struct hs_link *network = &machine->network;
    const double size = (double)question->problem->scalar->size, byte = hs_long_beta(network);
    double messages = layered->extent[0] + layered->extent[1], elements = 0;
    if (question->free) { /* only C moves, and its parts are equal */
        messages += layered->count;
        elements += (double)largest_part(layered->axis[HS_C]);
    }
    for (int x = 0; x < 3 && !question->free; x++)
        if (!layered->in_place[x])
            count_move(question->problem->view[x].axis, layered->axis[x], x == HS_C ? layered->count : 1, &messages,
                       &elements);
    return messages * network->alpha + elements * size * fmax(byte, machine->inject * together) +
           entering(layered, question->request, together) * size * fmax(byte / together, machine->inject);
}

static int has_axes(const struct hs_view *view, const struct hs_axis axis[2])
{
    return hs_axis_same(&view->axis[0], &axis[0]) && hs_axis_same(&view->axis[1], &axis[1]);
}

/* Fills entrant[] with the best numbers of layers in the order of their seconds, and returns how many. */
static int find_entrants(const hsumma_context *ctx, const struct question *question, struct hs_layered_rival one,
                         struct entrant entrant[ENTRANTS])
{
    enum { ANY = 64 };                          /* larger numbers must divide the processes */
    const double engaged = 0.9, hopeless = 1.5; /* estimates are rough */
    const struct hs_request *request = question->request;
    const struct hs_machine *machine = &ctx->profile.machine;
    const int *shape = request->desc[HS_A]->grid->grid.extent;
    const int64_t *extent = request->extent;
    const int processes = shape[0] * shape[1], known = ctx->comm.topology.size >= processes;
    const int together = known ? hs_division_largest(&ctx->comm.topology.division[HS_NODE]) : 1;
    const double byte = hs_long_beta(&machine->network);
    const double size = (double)question->problem->scalar->size;
    int found = 0;
    struct hs_message unread;
    if (hs_layered_check_sizes(extent, &unread))
        return 0;
    for (int layers = one.seconds < 0 ? 1 : 2; layers <= processes && layers <= extent[HS_K]; layers++) {
        int used = processes / layers * layers;
        if (used < engaged * processes || (used < processes && (layers > ANY || one.gemm <= 0)))
            continue;
        double gemm = one.gemm * processes / used;
        if (question->enough >= 0 && gemm >= question->enough)
            continue;
        struct hs_layered layered = {.count = layers};
        double received = (double)hs_layered_place(&layered, request, processes) * size;
        for (int x = 0; x < 2; x++) /* perhaps: the ranks are not compared yet */
            layered.in_place[x] = question->free || has_axes(&question->problem->view[x], layered.axis[x]);
        if (hs_layered_part_bytes(&layered, (size_t)size) >= question->limit)
            continue;
        if (question->enough >= 0 && received * fmax(byte / together, machine->inject) >= question->enough)
            continue;
        struct entrant next = {layers, gemm + estimate(machine, question, &layered, together)};
        if (one.seconds >= 0 && next.seconds >= hopeless * one.seconds)
            continue;
        int at = found < ENTRANTS ? found++ : ENTRANTS - 1;
        if (entrant[at].count && entrant[at].seconds <= next.seconds)
            continue;
        for (; at > 0 && entrant[at - 1].seconds > next.seconds; at--)
            entrant[at] = entrant[at - 1];
        entrant[at] = next;
    }
    return found;
}

hsumma_status hs_layered_choose(hsumma_context *ctx, const struct hs_request *request,
                                const struct hs_settings *settings, struct hs_layered_rival one, int *count)
{
    struct hs_problem problem;
    struct hs_scalar scalar;
    struct entrant entrant[ENTRANTS] = {{0, 0}};
    hs_plan_problem(request, settings, &scalar, &problem);
    struct question question = {.request = request,
                                .problem = &problem,
                                .limit =
                                    hs_workspace_limit(&settings->workspace, problem.view, 3, problem.scalar->size),
                                .enough = one.seconds < 0 ? -1 : HS_LAYERS_CLEARLY * one.seconds,
                                .free = one.free};
    int entrants = find_entrants(ctx, &question, one, entrant);
    *count = 1;
    /* The first number that is not faster ends the search: a price takes about as long as planning without layers. */
    for (int e = 0; e < entrants; e++) {
        struct hs_layered_price price;
        hsumma_status status = price_count(ctx, &question, entrant[e].count, &price);
        if (hs_is_own_failure(status))
            return status;
        if (status)
            continue;
        if (question.enough >= 0 && price.seconds >= question.enough)
            break;
        question.enough = price.seconds;
        *count = entrant[e].count;
    }
    return HSUMMA_OK;
}
