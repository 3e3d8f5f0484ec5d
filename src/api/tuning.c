/* hsumma_tune: measures candidates for one product and remembers the fastest. */
#include "hsumma/plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Allocates this process's parts of the matrices and fills them with ones. */
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

/* Executes the plan until the fastest candidate is known. */
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
                                 .op = {hs_upper(transa), hs_upper(transb), 'N'},
                                 .extent = {m, n, k},
                                 .desc = {a, b, c},
                                 .options = words,
                                 .afresh = 1};
    if (!ctx)
        return HSUMMA_ERR_ARGUMENT;
    if (long_words) /* the same on every process */
        return hs_fail(&ctx->message, HSUMMA_ERR_OPTION, "options have %zu characters; expected at most %zu",
                       strlen(options), sizeof words - sizeof " tune=measure");
    hsumma_status status = hs_plan_create(ctx, &request, 0, &plan);
    if (status)
        return status;
    status = hs_agree(&ctx->agreement, (struct hs_vote){.status = make_matrices(ctx, &request, matrix)}).status;
    if (status)
        hs_fail(&ctx->message, status, "cannot allocate matrices to measure with: %s", hsumma_status_string(status));
    char note[sizeof ctx->note]; /* notes of the context's creation; from here on notes are about the file */
    memcpy(note, ctx->note, sizeof note);
    ctx->note[0] = 0;
    if (!status)
        status = measure(plan, matrix);
    if (!status)
        hs_trial_remember(plan);
    if (!status && line && size)
        snprintf(line, size, "%s", hs_trial_turn(plan)->line);
    /* processes outside the grid have measured nothing and wait here */
    hsumma_status mine = status ? status : ctx->note[0] ? HSUMMA_ERR_OPTION : HSUMMA_OK;
    int reported = status != HSUMMA_OK;
    status = hs_agree(&ctx->agreement, (struct hs_vote){.status = mine}).status;
    if (status && !reported)
        hs_fail(&ctx->message, status, "%s",
                ctx->note[0]                  ? ctx->note
                : status == HSUMMA_ERR_OPTION ? "rank 0 could not write the measured plan to the tuned file"
                                              : hsumma_status_string(status));
    memcpy(ctx->note, note, sizeof note);
    for (int x = 0; x < 3; x++)
        hs_put(&ctx->memory, matrix[x]);
    hsumma_plan_free(&plan);
    return status;
}
