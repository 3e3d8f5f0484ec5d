/* hsumma_bench explain: the plans and the exit code. One process plans for a grid that it is no member of. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "commands.h"
#include "explain.h"

/* The grid of the library without this process, which may take part in every call all the same. */
static hsumma_grid *make_grid(hsumma_context *ctx, int nprow, int npcol)
{
    size_t count = (size_t)nprow * (size_t)npcol;
    hsumma_grid *grid = hs_get_zero(&ctx->memory, 1, sizeof *grid);
    int *rank = hs_get(&ctx->memory, count, sizeof *rank);

    if (!grid || !rank) {
        hs_put(&ctx->memory, grid);
        hs_put(&ctx->memory, rank);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        rank[i] = (int)i;
    *grid = (hsumma_grid){.ctx = ctx, .holders = 1, .grid = {{nprow, npcol}, {-1, -1}, rank}, .rank = rank};
    ctx->holders++;
    return grid;
}

static int within_int(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

/* The descriptor of operand x; what --layout says is checked by the library. */
static hsumma_status describe(explanation *e, int x, struct hs_message *message)
{
    const arguments *args = &e->args->common;
    const int64_t *layout = args->layout[x], extent[3] = {args->m, args->n, args->k};
    int flipped = x != HS_C && (x == HS_A ? args->transa : args->transb) != 'N';
    int64_t size[2] = {extent[hs_operand_dims[x][flipped]], extent[hs_operand_dims[x][!flipped]]};
    hsumma_desc *d = &e->desc[x];

    for (int axis = 0; axis < 2; axis++) {
        if (__builtin_add_overflow(size[axis], layout[LAYOUT_I + axis], &size[axis]) || size[axis] > INT64_MAX >> 8)
            return hs_fail(message, HSUMMA_ERR_ARGUMENT, "%c is too large to count its elements", "ABC"[x]);
        if (layout[LAYOUT_M + axis] >= 0)
            size[axis] = layout[LAYOUT_M + axis];
    }
    if (args->nb)
        hsumma_desc_init(d, e->grid, size[0], size[1], args->nb, args->nb);
    else
        hsumma_desc_checkerboard(d, e->grid, size[0], size[1]);
    if (layout[LAYOUT_MB] > 0)
        d->mb = d->imb = layout[LAYOUT_MB];
    if (layout[LAYOUT_NB] > 0)
        d->nb = d->inb = layout[LAYOUT_NB];
    d->imb = layout[LAYOUT_IMB] > 0 ? layout[LAYOUT_IMB] : d->imb;
    d->inb = layout[LAYOUT_INB] > 0 ? layout[LAYOUT_INB] : d->inb;
    d->rsrc = within_int(layout[LAYOUT_RSRC]);
    d->csrc = within_int(layout[LAYOUT_CSRC]);
    d->i = layout[LAYOUT_I];
    d->j = layout[LAYOUT_J];
    return HSUMMA_OK;
}

static hsumma_status make_plan(explanation *e, const char *options, hsumma_plan **plan)
{
    const arguments *args = &e->args->common;

    return hsumma_plan_create(e->ctx, args->type, args->transa, args->transb, args->m, args->n, args->k, &e->desc[0],
                              &e->desc[1], &e->desc[2], options, plan);
}

/* By G, then by I. */
static int compare_hierarchies(const void *a, const void *b)
{
    const hierarchy *x = a, *y = b;
    int64_t gx = (int64_t)x->rows * x->cols, gy = (int64_t)y->rows * y->cols;

    return gx != gy ? (gx > gy) - (gx < gy) : x->rows - y->rows;
}

/* Every I x J; one that the library refuses is shown with its reason. */
static hsumma_status make_hierarchies(explanation *e)
{
    hierarchy *least = NULL;
    char options[64];
    size_t most = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 1; i <= e->args->common.nprow; i++)
            for (int j = 1; j <= e->args->common.npcol; j++) {
                if (e->args->common.nprow % i || e->args->common.npcol % j)
                    continue;
                most += pass == 0;
                if (pass == 1)
                    e->hierarchies[e->hierarchy_count++] = (hierarchy){.rows = i, .cols = j};
            }
        if (pass == 0 && !(e->hierarchies = calloc(most, sizeof *e->hierarchies)))
            return HSUMMA_ERR_MEMORY;
    }
    qsort(e->hierarchies, (size_t)e->hierarchy_count, sizeof *e->hierarchies, compare_hierarchies);
    for (int i = 0; i < e->hierarchy_count; i++) {
        hierarchy *h = &e->hierarchies[i];

        snprintf(options, sizeof options, "groups=%dx%d", h->rows, h->cols);
        if (make_plan(e, options, &h->plan)) {
            snprintf(h->message, sizeof h->message, "%s", hsumma_message(e->ctx));
            continue;
        }
        hsumma_plan_query(h->plan, &h->info);
        if (!least || h->info.predicted_comm_seconds < least->info.predicted_comm_seconds * (1 - 1e-9))
            least = h;
    }
    if (least)
        least->least = 1;
    return HSUMMA_OK;
}

/* The context, as the processes of the grid would make it: with the built-in profile. */
static hsumma_status make_context(explanation *e, const char *options, struct hs_message *message)
{
    hsumma_status status = hsumma_create(MPI_COMM_SELF, options, &e->ctx, message->text, sizeof message->text);

    if (status)
        return status;
    e->ctx->profile = hs_profile_builtin;
    e->ctx->profile.one_node = e->args->nodes == 1;
    e->ctx->threads = e->ctx->threads_model = 1;
    return HSUMMA_OK;
}

static hsumma_status make_explanation(explanation *e, struct hs_message *message)
{
    hsumma_status status = HSUMMA_OK;

    e->nprow = e->args->common.nprow;
    e->npcol = e->args->common.npcol;
    e->processes = e->nprow * e->npcol;
    e->grid = make_grid(e->ctx, e->nprow, e->npcol);
    if (!e->grid)
        return hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for a grid of %dx%d", e->nprow, e->npcol);
    for (int x = 0; x < 3 && !status; x++)
        status = describe(e, x, message);
    if (status)
        return status;
    status = make_plan(e, NULL, &e->plan);
    if (status)
        return hs_fail(message, status, "%s", hsumma_message(e->ctx));
    hsumma_plan_query(e->plan, &e->info);
    e->nprow = e->plan->problem.grid.extent[0]; /* those that take part */
    e->npcol = e->plan->problem.grid.extent[1];
    e->processes = e->nprow * e->npcol;
    status = explain_read(e, message);
    if (!status && e->args->show & SHOW_GROUPS && make_hierarchies(e))
        status = hs_fail(message, HSUMMA_ERR_MEMORY, "no memory for the hierarchies");
    return status;
}

static void free_explanation(explanation *e)
{
    for (int i = 0; i < e->hierarchy_count; i++)
        hsumma_plan_free(&e->hierarchies[i].plan);
    free(e->hierarchies);
    explain_read_free(e);
    hsumma_plan_free(&e->plan);
    hsumma_grid_free(&e->grid);
    hsumma_free(&e->ctx);
}

static int carry_out(const explain_arguments *args, const char *options)
{
    struct hs_message message = {""};
    explanation e;
    hsumma_status status;
    int written = 1;

    memset(&e, 0, sizeof e);
    e.args = args;
    status = make_context(&e, options, &message);
    if (!status && args->collective)
        status = explain_collective(args, e.ctx, stdout, &message);
    else if (!status && !(status = make_explanation(&e, &message)))
        written = args->common.format == REPORT_JSON ? explain_json(&e, stdout) : explain_table(&e, stdout);
    free_explanation(&e);
    if (command_fail(MPI_COMM_SELF, status != HSUMMA_OK, "explain: %s",
                     message.text[0] ? message.text : hsumma_status_string(status)))
        return command_code(status);
    if (command_fail(MPI_COMM_SELF, !written || fflush(stdout), "the report could not be written"))
        return COMMAND_INTERNAL;
    return COMMAND_OK;
}

/* One rank does it all; the others wait. */
int cmd_explain(int argc, char **argv, MPI_Comm comm)
{
    int rank, code = COMMAND_OK;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        explain_arguments args;
        command_options options;
        int bad = explain_arguments_read(&args, &options, argc, argv);

        if (command_fail(MPI_COMM_SELF, bad, "explain: %s", options.error))
            code = COMMAND_BAD_INPUT;
        else if (args.common.help)
            explain_help();
        else
            code = carry_out(&args, options.text);
        command_options_free(&options);
    }
    quiet_bcast(&code, 1, MPI_INT, 0, comm);
    return code;
}
