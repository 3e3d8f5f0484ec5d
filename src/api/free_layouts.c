/* Layouts that the library may choose: hsumma_choose_grid and hsumma_desc_best. */
#include "base/hash.h"
#include "dist/layers.h"
#include "hsumma/plan/plan.h"
#include "summa/entering.h"

/* The price of a layout: predicted seconds, and the bytes that enter the most loaded node and process. */
struct grid_price {
    double seconds;
    int64_t node_bytes, process_bytes;
};

/* Fills the descriptors of a request: one block per process (nb = 0), or blocks of nb x nb. */
static void describe(struct hs_request *request, const hsumma_grid *grid, int64_t nb, hsumma_desc desc[3])
{
    for (int x = 0; x < 3; x++) {
        int flip = request->op[x] != 'N';
        int64_t rows = request->extent[hs_operand_dims[x][flip]], columns = request->extent[hs_operand_dims[x][!flip]];
        request->desc[x] = &desc[x];
        if (nb > 0)
            hsumma_desc_init(&desc[x], grid, rows, columns, nb, nb);
        else
            hsumma_desc_checkerboard(&desc[x], grid, rows, columns);
    }
}

/* A grid that is not created, and descriptors on it. */
struct imagined {
    int *rank;
    hsumma_grid grid;
    hsumma_desc desc[3];
};

/* Imagines a grid of all ranks from 0 on, and describes the request on it.  The caller frees it->rank, also after an
 * error. */
static hsumma_status imagine(hsumma_context *ctx, struct hs_request *request, const int extent[2], int64_t nb,
                             struct imagined *it)
{
    const int processes = extent[0] * extent[1];
    it->rank = hs_get(&ctx->memory, (size_t)processes, sizeof *it->rank);
    if (!it->rank)
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for a grid of %d processes", processes);
    for (int i = 0; i < processes; i++)
        it->rank[i] = i;
    hsumma_status status = hs_imagine_grid(ctx, extent, it->rank, &it->grid);
    if (!status)
        describe(request, &it->grid, nb, it->desc);
    return status;
}

/* The most bytes that must enter one part of the division; -1 if out of memory. */
static int64_t most_entering(const hsumma_plan *plan, const struct hs_division *division)
{
    const struct hs_allocator *memory = &plan->ctx->memory;
    int64_t most = -1, *bytes = hs_get(memory, (size_t)division->parts, sizeof *bytes);
    if (bytes && !hs_entering_bytes(&plan->problem, plan->choice.spec.stationary, division, memory, bytes))
        for (int i = 0; i < division->parts; i++)
            most = bytes[i] > most ? bytes[i] : most;
    hs_put(memory, bytes);
    return most;
}

static hsumma_status count_bytes(const hsumma_plan *plan, struct grid_price *price)
{
    const hsumma_context *ctx = plan->ctx;
    struct hs_topology alone = {.size = 0};
    if (hs_topology_blocks(&alone, ctx->comm.size, ctx->comm.size, 1, &ctx->memory))
        return HSUMMA_ERR_MEMORY;
    price->node_bytes = most_entering(plan, &ctx->comm.topology.division[HS_NODE]);
    price->process_bytes = most_entering(plan, &alone.division[HS_NODE]);
    hs_topology_free(&alone, &ctx->memory);
    return price->node_bytes < 0 || price->process_bytes < 0 ? HSUMMA_ERR_MEMORY : HSUMMA_OK;
}

/* Prices a grid by a plan that this process makes alone, without creating the grid; with `counts` also counts the bytes
 * that enter nodes and processes. */
static hsumma_status price_grid(hsumma_context *ctx, struct hs_request *request, int64_t nb, const int extent[2],
                                int counts, struct grid_price *price)
{
    struct imagined on;
    hsumma_plan *plan = NULL;
    hsumma_status status = imagine(ctx, request, extent, nb, &on);
    request->priced = 1;
    if (!status)
        status = hs_plan_create(ctx, request, 1, &plan);
    if (!status) {
        price->seconds = plan->choice.prediction.seconds;
        if (counts && (status = count_bytes(plan, price)))
            hs_fail(&ctx->message, status, "no memory to count the traffic of a grid of %d x %d", extent[0], extent[1]);
        hs_plan_destroy(plan);
    }
    hs_put(&ctx->memory, on.rank);
    return status;
}

/* Whether a grid of very many processes is too oblong to be worth its price: its busiest process receives more than
 * twice as many elements as that of the best grid, each with its best stationary operand. Pricing long lines takes
 * minutes, since schedules grow with their length. */
static int is_hopeless(const int64_t size[3], int rows, int columns)
{
    enum { MANY = 1 << 14, OBLONG = 2 };
    static const int dims[3][3] = {
        {HS_M, HS_K, HS_N}, {HS_K, HS_N, HS_M}, {HS_M, HS_N, HS_K}}; /* rows, columns, loop */
    int processes = rows * columns;
    int64_t least = -1, here = -1;
    for (int x = 0; x < 3 && processes >= MANY; x++) {
        const int64_t extent[3] = {size[dims[x][0]], size[dims[x][1]], size[dims[x][2]]};
        int64_t best = hs_layers_choose(extent, processes, processes, 1, 0).received;
        int64_t mine = hs_layers_count(extent, rows, columns, 1).received;
        least = best >= 0 && (least < 0 || best < least) ? best : least;
        here = here < 0 || mine < here ? mine : here;
    }
    return least >= 0 && here > OBLONG * least;
}

/* A request that this process prices alone. */
static struct hs_request priced_request(hsumma_type type, char transa, char transb, int64_t m, int64_t n, int64_t k,
                                        const char *options)
{
    return (struct hs_request){.type = type,
                               .op = {hs_upper(transa), hs_upper(transb), 'N'},
                               .extent = {m, n, k},
                               .options = options,
                               .alone = 1,
                               .silent = 1};
}

hsumma_status hsumma_choose_grid(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m, int64_t n,
                                 int64_t k, int64_t nb, int processes, const char *options, int *nprow, int *npcol,
                                 double *predicted_seconds)
{
    /* Largest ratio of the sides of a nearly square grid. If all processes form no such grid, fewer processes are tried
     * too: with 7 also 2x3. */
    enum { SQUARE = 2 };
    struct hs_request request = priced_request(type, transa, transb, m, n, k, options);
    hsumma_status first = HSUMMA_OK;
    double least = -1;
    if (!ctx || !nprow || !npcol)
        return HSUMMA_ERR_ARGUMENT;
    if (processes < 1 || nb < 0 || m < 0 || n < 0 || k < 0)
        return hs_fail(&ctx->message, HSUMMA_ERR_ARGUMENT,
                       "processes is %d, nb is %lld, m, n and k are %lld, %lld and %lld; expected at least 1 process, "
                       "and 0 or more for the others",
                       processes, (long long)nb, (long long)m, (long long)n, (long long)k);
    for (int used = processes, square = 0; used > 0 && !square; used--) {
        for (int rows = 1; rows <= used; rows++) {
            int extent[2] = {rows, used / rows};
            struct grid_price price = {.seconds = 0};
            if (used % rows)
                continue;
            int squarish = extent[0] <= SQUARE * extent[1] && extent[1] <= SQUARE * extent[0];
            if (used < processes && !squarish)
                continue;
            square |= squarish;
            if (is_hopeless(request.extent, extent[0], extent[1]))
                continue;
            hsumma_status status = price_grid(ctx, &request, nb, extent, 0, &price);
            first = first ? first : status;
            /* a process that skipped the grid could choose differently from the others */
            if (status == HSUMMA_ERR_MEMORY)
                return status;
            if (status || (least >= 0 && price.seconds >= least * (1 - 1e-9)))
                continue;
            least = price.seconds;
            *nprow = extent[0];
            *npcol = extent[1];
        }
    }
    if (least < 0)
        return first;
    if (predicted_seconds)
        *predicted_seconds = least;
    return HSUMMA_OK;
}

static int is_less(const struct grid_price *a, const struct grid_price *b)
{
    if (a->node_bytes != b->node_bytes)
        return a->node_bytes < b->node_bytes;
    if (a->process_bytes != b->process_bytes)
        return a->process_bytes < b->process_bytes;
    return a->seconds < b->seconds * (1 - 1e-9);
}

/* Finds, among the grids with as many processes as the model's choice, the least one by is_less. */
static hsumma_status find_best(hsumma_context *ctx, struct hs_request *request, int extent[2], double *seconds)
{
    struct grid_price least = {.seconds = -1}, price;
    hsumma_status status = hsumma_choose_grid(ctx, (hsumma_type)request->type, request->op[0], request->op[1],
                                              request->extent[0], request->extent[1], request->extent[2], 0,
                                              ctx->comm.size, request->options, &extent[0], &extent[1], NULL);
    if (status)
        return status;
    const int used = extent[0] * extent[1];
    for (int rows = 1; rows <= used && status != HSUMMA_ERR_MEMORY; rows++) {
        const int one[2] = {rows, used / rows};
        if (used % rows)
            continue;
        status = price_grid(ctx, request, 0, one, 1, &price);
        if (status || (least.seconds >= 0 && !is_less(&price, &least)))
            continue;
        least = price;
        extent[0] = one[0];
        extent[1] = one[1];
    }
    *seconds = least.seconds;
    return status == HSUMMA_ERR_MEMORY ? status : HSUMMA_OK;
}

/* With layers=auto, sets *count to the best number of layers (hs_layered_choose). `seconds` is the predicted time of
 * the best grid without layers. */
static hsumma_status find_layers(hsumma_context *ctx, const struct hs_request *wanted,
                                 const struct hs_settings *settings, double seconds, int *count)
{
    const int extent[2] = {1, ctx->comm.size};
    struct hs_request request = *wanted;
    struct imagined all;
    hsumma_status status = imagine(ctx, &request, extent, 0, &all);
    if (!status)
        status = hs_layered_choose(ctx, &request, settings, (struct hs_layered_rival){seconds, 0, 1}, count);
    hs_put(&ctx->memory, all.rank);
    return status;
}

/* Checks that all processes have found the same layout. Collective; every rank returns the same status. */
static hsumma_status agree_on(hsumma_context *ctx, const struct hs_request *request, int layers, const int extent[2],
                              hsumma_status mine)
{
    const char op[2][2] = {{request->op[0]}, {request->op[1]}};
    const struct hs_given given[] = {{"type", .number = request->type},
                                     {"transa", .text = op[0], .number = request->op[0]},
                                     {"transb", .text = op[1], .number = request->op[1]},
                                     {"m", .number = request->extent[0]},
                                     {"n", .number = request->extent[1]},
                                     {"k", .number = request->extent[2]},
                                     {"options", .text = request->options ? request->options : ""},
                                     {"layers", .number = layers, .chosen = 1},
                                     {"the best grid's rows", .number = extent[0], .chosen = 1},
                                     {"the best grid's columns", .number = extent[1], .chosen = 1}};
    const int count = sizeof given / sizeof *given;
    uint64_t hash = 0;
    for (int i = 0; i < count; i++)
        hash = hs_mix(hash, (uint64_t)given[i].number);
    struct hs_verdict verdict =
        hs_context_agree(ctx, (struct hs_vote){.status = mine, .hash = mine ? 0 : (int64_t)(hash >> 1)});
    return hs_context_judge(ctx, mine, verdict, "hsumma_desc_best", given, count);
}

/* With layers=L, lays the operands out over all processes. */
static hsumma_status spread_over_layers(hsumma_context *ctx, const struct hs_request *wanted,
                                        const struct hs_settings *settings, hsumma_grid *grid[3], hsumma_desc desc[3])
{
    const int extent[2] = {1, ctx->comm.size};
    struct hs_request request = *wanted;
    hsumma_grid *all;
    hsumma_status status = hs_grid_create(ctx, extent, 'R', NULL, &all);
    if (status)
        return status;
    describe(&request, all, 0, desc);
    request.alone = 0;
    status = hs_request_check(&request, ctx, &ctx->message);
    if (!status && settings->bits)
        status = hs_request_check_bits(&request, ctx, settings, &ctx->message);
    status = agree_on(ctx, &request, settings->layers, extent, status);
    if (!status)
        status = hs_layered_layouts(ctx, &request, settings, grid, desc);
    hs_grid_release(all);
    return status;
}

hsumma_status hsumma_desc_best(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m, int64_t n,
                               int64_t k, const char *options, hsumma_grid *grid[3], hsumma_desc *a, hsumma_desc *b,
                               hsumma_desc *c)
{
    struct hs_request request = priced_request(type, transa, transb, m, n, k, options);
    hsumma_desc desc[3];
    int extent[2] = {0, 0};
    double seconds = 0;
    for (int x = 0; grid && x < 3; x++)
        grid[x] = NULL;
    if (!ctx || !grid || !a || !b || !c)
        return HSUMMA_ERR_ARGUMENT;
    struct hs_options words = ctx->options;
    if (ctx->broken)
        return hs_context_refuse(ctx);
    hs_context_enter(ctx, HS_ENTERED_LAYOUTS, ++ctx->entered, 0);
    hsumma_status status = hs_options_apply(&words, options, HS_BY_PLAN, &ctx->message);
    if (!status)
        status = hs_check_guard(ctx, &words.settings, &ctx->message);
    struct hs_settings *settings = &words.settings;
    settings->layers = hs_options_layers(&words, request.alone); /* by default 1: C may be A of the next product */
    if (status || settings->layers <= 1) {
        int count = 1;
        if (!status)
            status = find_best(ctx, &request, extent, &seconds);
        if (!status && hs_layered_may_choose(ctx, settings))
            status = find_layers(ctx, &request, settings, seconds, &count);
        status = agree_on(ctx, &request, count, extent, status);
        settings->layers = count;
    }
    if (!status && settings->layers > 1) {
        status = spread_over_layers(ctx, &request, settings, grid, desc);
    } else if (!status) {
        status = hsumma_grid_create(ctx, extent[0], extent[1], 'A', NULL, &grid[0]);
        if (!status) {
            grid[1] = grid[2] = grid[0];
            grid[0]->holders += 2;
            describe(&request, grid[0], 0, desc);
        }
    }
    if (status)
        return status;
    *a = desc[0];
    *b = desc[1];
    *c = desc[2];
    return HSUMMA_OK;
}
