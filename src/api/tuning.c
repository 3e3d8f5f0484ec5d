/* hsumma_tune and hsumma_choose_grid. */
#include "hsumma/context/tiling.h"
#include "hsumma/plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Matrices to measure with: this process's parts, of ones. */
static hsumma_status make_matrices(hsumma_context *ctx, const struct hs_request *request, void *matrix[3])
{
    hsumma_status status = HSUMMA_OK;
    for (int x = 0; x < 3; x++) {
        const hsumma_desc *desc = request->desc[x];
        int64_t columns = hsumma_local_cols(desc);
        size_t size = hs_scalars[request->type].size, count = 0;
        if (columns > 0 && desc->ld > 0 && __builtin_mul_overflow((size_t)desc->ld, (size_t)columns, &count))
            return HSUMMA_ERR_MEMORY;
        matrix[x] = count ? hs_get(&ctx->memory, count, size) : NULL;
        if (count && !matrix[x])
            status = HSUMMA_ERR_MEMORY;
        for (size_t i = 0; matrix[x] && i < count; i++)
            memcpy((char *)matrix[x] + i * size, hs_scalars[request->type].one, size);
    }
    return status;
}

/* Executions until it is known which candidate is the fastest. */
static hsumma_status measure(hsumma_plan *plan, void *const matrix[3])
{
    const struct hs_scalar *scalar = plan->problem.scalar;
    hsumma_status status = HSUMMA_OK;
    while (!status && plan->trial.count && !plan->trial.decided && plan->in_grid)
        status = hsumma_plan_execute(plan, scalar->one, matrix[0], matrix[1], scalar->zero, matrix[2]);
    return status;
}

hsumma_status hsumma_tune(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m, int64_t n,
                          int64_t k, const hsumma_desc *a, const hsumma_desc *b, const hsumma_desc *c,
                          const char *options, char *line, size_t size)
{
    char words[1024];
    hsumma_plan *plan = NULL;
    void *matrix[3] = {NULL, NULL, NULL};
    int long_words = snprintf(words, sizeof words, "%s tune=measure", options ? options : "") >= (int)sizeof words;
    struct hs_request request = {.type = type,
                                 .op = {transa, transb, 'N'},
                                 .extent = {m, n, k},
                                 .desc = {a, b, c},
                                 .options = words,
                                 .afresh = 1};
    if (long_words) /* every process is given the same */
        return hs_fail(&ctx->message, HSUMMA_ERR_OPTION, "options have %zu letters; expected less than %zu",
                       strlen(options), sizeof words - sizeof " tune=measure");
    hsumma_status status = hs_plan_create(ctx, &request, 0, &plan);
    if (status)
        return status;
    status = hs_agree(&ctx->agreement, (struct hs_vote){.status = make_matrices(ctx, &request, matrix)}).status;
    if (status)
        hs_fail(&ctx->message, status, "no memory for matrices to measure with");
    char note[sizeof ctx->note]; /* of the context's creation: what is noted now is about the file */
    memcpy(note, ctx->note, sizeof note);
    ctx->note[0] = 0;
    if (!status)
        status = measure(plan, matrix);
    if (!status)
        hs_trial_remember(plan);
    if (!status && line && size)
        snprintf(line, size, "%s", hs_trial_turn(plan)->line);
    /* processes outside the grid have measured nothing, and wait here */
    hsumma_status mine = status ? status : ctx->note[0] ? HSUMMA_ERR_OPTION : HSUMMA_OK;
    int reported = status != HSUMMA_OK;
    status = hs_agree(&ctx->agreement, (struct hs_vote){.status = mine}).status;
    if (status && !reported)
        hs_fail(&ctx->message, status, "%s",
                ctx->note[0]                  ? ctx->note
                : status == HSUMMA_ERR_OPTION ? "what was measured could not be written to the tuned file"
                                              : hsumma_status_string(status));
    memcpy(ctx->note, note, sizeof note);
    for (int x = 0; x < 3; x++)
        hs_put(&ctx->memory, matrix[x]);
    hsumma_plan_free(&plan);
    return status;
}

/* A plan of this process alone for a grid that is not there: what it would cost. */
static hsumma_status price_grid(hsumma_context *ctx, struct hs_request *request, int64_t nb, const int extent[2],
                                int *rank, double *seconds)
{
    hsumma_grid grid = {.ctx = ctx,
                        .holders = 2,
                        .grid = {.extent = {extent[0], extent[1]}, .coord = {-1, -1}, .rank = rank},
                        .rank = rank};
    hsumma_desc desc[3];
    hsumma_plan *plan;
    const struct hs_topology *topology = &ctx->comm.topology;
    int one_node = ctx->profile.one_node && ctx->comm.size > 1, known = topology->size >= extent[0] * extent[1];
    int several = known && topology->division[HS_NODE].parts > 1;
    for (int i = 0; i < extent[0] * extent[1]; i++)
        rank[i] = i;
    if (hs_grid_order(extent, 'A', known ? topology : NULL, rank, &ctx->memory))
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for a grid of %d processes", extent[0] * extent[1]);
    if (one_node || several) /* as if its processes shared memory */
        grid.shared.bytes = (size_t)ctx->tile_bytes;
    if (one_node)
        grid.shared.directory.ranks = ctx->comm.size;
    for (int x = 0; x < 3; x++) {
        int flip = request->op[x] != 'N';
        int64_t rows = request->extent[hs_operand_dims[x][flip]], columns = request->extent[hs_operand_dims[x][!flip]];
        if (nb > 0)
            hsumma_desc_init(&desc[x], &grid, rows, columns, nb, nb);
        else
            hsumma_desc_checkerboard(&desc[x], &grid, rows, columns);
        request->desc[x] = &desc[x];
    }
    hsumma_status status = hs_plan_create(ctx, request, 1, &plan);
    if (status)
        return status;
    *seconds = plan->choice.prediction.seconds;
    hs_plan_destroy(plan);
    return HSUMMA_OK;
}

hsumma_status hsumma_choose_grid(hsumma_context *ctx, hsumma_type type, char transa, char transb, int64_t m, int64_t n,
                                 int64_t k, int64_t nb, int processes, const char *options, int *nprow, int *npcol,
                                 double *predicted_seconds)
{
    /* all processes; where no grid of them is nearly a square, fewer are tried: with 7 also 2x3 */
    enum { SQUARE = 2 };
    struct hs_request request = {
        .type = type, .op = {transa, transb, 'N'}, .extent = {m, n, k}, .options = options, .alone = 1, .silent = 1};
    hsumma_status first = HSUMMA_OK;
    double least = -1;
    if (processes < 1 || nb < 0 || m < 0 || n < 0 || k < 0)
        return hs_fail(
            &ctx->message, HSUMMA_ERR_ARGUMENT,
            "a grid for %d processes in blocks of %lld of a product %lld x %lld x %lld: expected at least one "
            "process and no negative size",
            processes, (long long)nb, (long long)m, (long long)n, (long long)k);
    int *rank = hs_get(&ctx->memory, (size_t)processes, sizeof *rank);
    if (!rank)
        return hs_fail(&ctx->message, HSUMMA_ERR_MEMORY, "no memory for a grid of %d processes", processes);
    for (int used = processes, square = 0; used > 0 && !square; used--) {
        for (int rows = 1; rows <= used; rows++) {
            int extent[2] = {rows, used / rows};
            double seconds = 0;
            if (used % rows)
                continue;
            int squarish = extent[0] <= SQUARE * extent[1] && extent[1] <= SQUARE * extent[0];
            if (used < processes && !squarish)
                continue;
            square |= squarish;
            hsumma_status status = price_grid(ctx, &request, nb, extent, rank, &seconds);
            first = first ? first : status;
            if (status || (least >= 0 && seconds >= least * (1 - 1e-9)))
                continue;
            least = seconds;
            *nprow = extent[0];
            *npcol = extent[1];
        }
    }
    hs_put(&ctx->memory, rank);
    if (least < 0)
        return first;
    if (predicted_seconds)
        *predicted_seconds = least;
    return HSUMMA_OK;
}
