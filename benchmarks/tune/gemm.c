/* hsumma tune: measures products. */
#include <math.h>
#include <stdlib.h>

#include "hsumma/plan/plan.h"
#include "product/problem.h"
#include "product/turn.h"
#include "report/columns.h"
#include "report/progress.h"
#include "tune/command.h"

/* The result of a trial, on rank 0, which is a member of every grid. */
typedef struct trial_result {
    hsumma_plan_info info;
    double chosen;  /* measured seconds of the chosen plan; 0 if there is only one candidate */
    char note[512]; /* why the file was not written, or "" */
} trial_result;

/* Makes a plan as hsumma_tune does, ignoring remembered choices. Returns an exit status. */
static int make_plan(const problem *p, hsumma_plan **plan)
{
    const arguments *args = p->args;
    struct hs_request request = {.type = args->type,
                                 .op = {args->transa, args->transb, 'N'},
                                 .extent = {args->m, args->n, args->k},
                                 .desc = {&p->a.desc, &p->b.desc, &p->c.desc},
                                 .options = "tune=measure",
                                 .afresh = 1};
    hsumma_status status = hs_plan_create(p->ctx, &request, 0, plan);

    return command_fail(p->comm, status != HSUMMA_OK, "tune: %s", hsumma_message(p->ctx)) ? command_code(status)
                                                                                          : COMMAND_OK;
}

/* Whether candidates are still being measured, by rank 0's decision. */
static int is_measuring(const problem *p, const hsumma_plan *plan)
{
    int measuring = plan->trial.count && !plan->trial.decided;

    quiet_bcast(&measuring, 1, MPI_INT, 0, p->comm);
    return measuring;
}

/* Executes the plan until the fastest candidate is known. */
static int measure(const problem *p, hsumma_plan *plan, progress *bar, double done, double share)
{
    const gemm_contender who = {API_PLAN, plan, NULL, p->c.local};
    int code = COMMAND_OK;
    turn t;

    p->ctx->note[0] = 0; /* from here on notes are about the tuned file */
    while (!code && is_measuring(p, plan)) {
        if (p->rank == 0)
            progress_update(bar, "timing candidates",
                            done + share * plan->trial.executions / (2.0 * plan->trial.count));
        code = execute_turn(p, &who, 1, &t);
    }
    return code;
}

/* One plan; seconds are NaN if unknown. */
typedef struct plan_row {
    const char *what, *line;
    double measured, predicted;
} plan_row;

static const report_column columns[] = {
    {.title = "", REPORT_VALUE(plan_row, what), .width = -8},
    {.title = "measured ms", REPORT_VALUE(plan_row, measured), .width = 11, .digits = 3, .factor = 1e3, .narrow = 1},
    {.title = "predicted ms", REPORT_VALUE(plan_row, predicted), .width = 12, .digits = 3, .factor = 1e3, .narrow = 1},
    {.title = "", REPORT_VALUE(plan_row, line), .width = -1},
    REPORT_END};

static double known(double seconds)
{
    return seconds > 0 ? seconds : NAN;
}

static void report(const problem *p, const trial_result *found, const char *path)
{
    const arguments *args = p->args;
    const hsumma_plan_info *info = &found->info;
    const report_table table = {.columns = columns};

    printf("m = %lld, n = %lld, k = %lld, %s, %c%c, %d x %d grid, %d rank%s, %d node%s\n", (long long)args->m,
           (long long)args->n, (long long)args->k, type_name(args->type), args->transa, args->transb, p->nprow,
           p->npcol, p->ranks, report_plural(p->ranks), p->mach.nodes, report_plural(p->mach.nodes));
    report_table_head(&table, NULL, stdout);
    for (int i = -1; i < info->nrivals; i++) {
        const hsumma_rival *rival = &info->rival[i < 0 ? 0 : i];
        plan_row row = {"rival", rival->line, known(rival->measured), known(rival->seconds)};

        if (i < 0)
            row = (plan_row){"chosen", info->line, known(found->chosen), known(info->predicted_seconds)};
        report_table_row(&table, &row, REPORT_ALL, NULL, stdout);
    }
    if (found->chosen > 0)
        printf("file     %s\n", found->note[0] ? "not written" : path);
    else
        printf("file     not written: there is only one candidate\n");
    fflush(stdout);
}

static int tune_product(problem *p, const char *path, progress *bar, double done, double share)
{
    hsumma_plan *plan = NULL;
    trial_result found = {.chosen = 0};
    int code = make_plan(p, &plan);

    if (!code)
        code = measure(p, plan, bar, done, share);
    if (!code && p->rank == 0) {
        hsumma_plan_query(plan, &found.info);
        found.chosen = plan->trial.count ? plan->trial.seconds[plan->trial.turn] : 0;
        snprintf(found.note, sizeof found.note, "%s", p->ctx->note);
        progress_end(bar);
        report(p, &found, path);
    }
    if (!code && command_fail(p->comm, found.note[0] != 0, "%s", found.note))
        code = COMMAND_INTERNAL;
    hsumma_plan_free(&plan);
    return code;
}

int tune_products(const tune_arguments *args, const char *path, MPI_Comm comm)
{
    progress bar = {.shown = 0};
    int rank, worst = COMMAND_OK;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        progress_begin(&bar, 0, args->set.common.quiet);
    for (int i = 0; i < args->set.count; i++) {
        const product_case *x = &args->set.list[i];
        char *options = tune_options(x->options, path, "tune=measure");
        problem p = {.mach.node = MPI_COMM_NULL};
        int code;

        if (rank == 0 && i > 0)
            printf("\n");
        code = command_fail(comm, !options, "tune: no memory for the options");
        if (!code)
            code = problem_create(&p, &x->args, options, comm);
        if (!code)
            code = tune_product(&p, path, &bar, (double)i / args->set.count, 1.0 / args->set.count);
        problem_free(&p);
        free(options);
        worst = code > worst ? code : worst;
    }
    progress_end(&bar);
    return worst;
}
