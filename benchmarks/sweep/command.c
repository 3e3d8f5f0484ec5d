/* hsumma sweep: SUMMA against HSUMMA for every grid of groups, as in figures 5 to 8 of the HSUMMA paper. */
#include "sweep/command.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "measure/simulated.h"
#include "report/plot.h"
#include "report/progress.h"

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma sweep [OPTION...]\n"
           "\n"
           "Times SUMMA, and HSUMMA with every group grid I x J that divides the P x Q process grid, in turns, and "
           "prints\n"
           "total and communication time against the number of groups G = I J, with the model's prediction. The "
           "library's\n"
           "own choice is marked. The paper's algorithm does not overlap communication: --lookahead 0.\n"
           "\n");
    arguments_help();
    arguments_help_run("timed repetitions after one warm-up, which the simulator omits (default: 5)",
                       "check the first result of each plan: the residual, 64 entries of C per process,\n"
                       "                          and every row with a strict bound",
                       "table|csv|json");
    printf("  --first K               multiply only the first K of the k indices, a few outer panels of each\n"
           "                          grouping: enough to choose the groups (Sections V-A1 and VI of the paper)\n"
           "  --plot FILE.svg         also draw the times (needs gnuplot)\n"
           "\n"
           "The plans: options of the library, without --groups and --levels, which the sweep sets, and --steps\n");
}

typedef struct sweep_arguments {
    arguments common;
    const char *plot;
    int64_t first; /* how many of the k indices are multiplied; 0: all */
} sweep_arguments;

static const argument own_arguments[] = {
    {.rows = arguments_all, .field = offsetof(sweep_arguments, common)},
    {"plot", .read = argument_text, .field = offsetof(sweep_arguments, plot)},
    {"first", .read = argument_int64, .field = offsetof(sweep_arguments, first), .least = 1, .most = INT64_MAX >> 8},
    {"groups", .read = argument_refused,
     .expected = "--groups: not allowed, since the sweep tries all group grids; omit it"},
    {"levels", .read = argument_refused,
     .expected = "--levels: not allowed, since the sweep tries all group grids; omit it"},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    sweep_arguments *args = of;

    arguments *common = &args->common;

    if (arguments_finish(common, options))
        return 1;
    if (args->first > common->k)
        return command_refuse(options, "--first %lld: expected at most k, %lld", (long long)args->first,
                              (long long)common->k);
    if (!args->first)
        return 0;
    /* the operands become the first columns of op(A) and the first rows of op(B), in the layouts of the whole product
     */
    int64_t *whole[2] = {&common->layout[HS_A][common->transa == 'N' ? LAYOUT_N : LAYOUT_M],
                         &common->layout[HS_B][common->transb == 'N' ? LAYOUT_M : LAYOUT_N]};

    for (int i = 0; i < 2; i++)
        if (*whole[i] < 0)
            *whole[i] = common->k;
    common->k = args->first;
    return 0;
}

/* Makes candidates for SUMMA and every group grid I x J. Returns 0 if out of memory. */
static int make_candidates(sweep *s)
{
    int reps = s->p.args->reps, count;
    group_grid *grids = group_grids(s->p.nprow, s->p.npcol, &count);

    s->candidates = calloc((size_t)count + 1, sizeof *s->candidates);
    s->count = grids && s->candidates ? count + 1 : 0;
    for (int i = 0; i < s->count; i++)
        s->candidates[i].grid = i ? grids[i - 1] : (group_grid){.name = "SUMMA"};
    free(grids);
    for (int i = 0; i < s->count; i++) {
        candidate *c = &s->candidates[i];

        if (!(c->times = calloc((size_t)reps * 3, sizeof *c->times)))
            return 0;
        c->comms = c->times + reps;
        c->gemms = c->comms + reps;
    }
    return s->count > 0;
}

static int sends_messages(const hsumma_plan_info *info)
{
    return !info->node || !strcmp(info->node, "messages") || !strcmp(info->node, "alone");
}

/* Finds the library's own choice among all plans and, if that plan shares panels inside nodes, also the choice among
 * the plans that pass all panels by messages. */
static void choose(sweep *s)
{
    hsumma_plan *plan = NULL;
    hsumma_plan_info info;
    automatic *own = &s->own;
    int rows = 0, cols = 0;
    char text[400];

    if (problem_plan(&s->p, NULL, &plan, &info, text, sizeof text))
        return;
    if (!sends_messages(&info)) {
        snprintf(own->shared, sizeof own->shared, "%s", info.line);
        hsumma_plan_free(&plan);
        if (problem_plan(&s->p, "node=messages", &plan, &info, text, sizeof text))
            return;
    }
    snprintf(own->line, sizeof own->line, "%s", info.line);
    own->predicted_s = info.predicted_seconds;
    own->predicted_comm_s = info.predicted_comm_seconds;
    if (info.nlevels == 2) {
        rows = info.level[0].rows;
        cols = info.level[0].cols;
    }
    for (int i = 0; i < s->count && info.nlevels <= 2; i++)
        s->candidates[i].chosen = s->candidates[i].grid.rows == rows && s->candidates[i].grid.cols == cols;
    hsumma_plan_free(&plan);
}

/* Makes all plans, which exist throughout the sweep, so that only the product is timed. A grouping that the library
 * refuses is reported in its place; if all are refused, the command fails. */
static int make_plans(sweep *s)
{
    char options[64];
    int plans = 0, code = COMMAND_OK, worst = COMMAND_OK, cut = 0;

    for (int i = 0; i < s->count; i++) {
        candidate *c = &s->candidates[i];

        snprintf(options, sizeof options, "groups=%s", c->grid.rows ? c->grid.name : "1x1");
        code = problem_plan(&s->p, options, &c->plan, &c->info, c->message, sizeof c->message);
        plans += !code;
        cut |= !code && c->info.steps_run < c->info.steps;
        worst = code > worst ? code : worst;
    }
    if (command_fail(
            s->p.comm, cut,
            "sweep: --steps: not allowed, since steps of different group grids differ in size; omit it, or use "
            "hsumma gemm"))
        return COMMAND_BAD_INPUT;
    if (plans)
        return COMMAND_OK;
    command_fail(s->p.comm, s->candidates[0].message[0], "%s", s->candidates[0].message);
    return worst;
}

/* Runs the warm-up, then the rounds; with --check, checks the result of each candidate's first turn. */
static int measure(sweep *s, progress *bar)
{
    const arguments *args = s->p.args;
    int warm_ups = is_simulated() ? 0 : 1; /* the simulator has nothing to warm up */
    turn t;
    int code;

    for (int round = -warm_ups; round < args->reps; round++)
        for (int i = 0; i < s->count; i++) {
            candidate *c = &s->candidates[i];

            if (!c->plan)
                continue;
            progress_update(bar, round < 0 ? "warm-up" : "timing group grids",
                            ((double)(round + warm_ups) + (double)i / s->count) / (args->reps + warm_ups));
            if ((code = execute_turn(&s->p, &(gemm_contender){API_PLAN, c->plan, NULL, s->p.c.local}, 1, &t)))
                return code;
            if (round >= 0) {
                c->times[round] = t.seconds;
                c->comms[round] = t.comm;
                c->gemms[round] = t.gemm;
            }
            if (round > 0 || (round == 0 && !is_simulated()))
                continue;
            c->checked = args->check && !is_timed_only(s->p.ctx);
            if (c->checked && (code = check_product(&s->p, s->p.c.local, 1, &c->check)))
                return code;
        }
    return COMMAND_OK;
}

/* Marks the fastest candidate for each number of groups G and the fastest of all, except SUMMA (candidate 0).
 * Candidates of equal G are adjacent. */
static void mark_best(sweep *s)
{
    candidate *best = NULL, *best_of_g = NULL;

    for (int i = 1; i < s->count; i++) {
        candidate *c = &s->candidates[i];
        int same = best_of_g && best_of_g->grid.groups == c->grid.groups;

        if (!c->plan)
            continue;
        if (!best || c->total.median < best->total.median)
            best = c;
        if (same && c->total.median >= best_of_g->total.median)
            continue;
        if (same)
            best_of_g->best_of_g = 0;
        c->best_of_g = 1;
        best_of_g = c;
    }
    if (best)
        best->best = 1;
    for (int i = 1; i < s->count; i++)
        if (s->candidates[i].best_of_g)
            strcpy(s->candidates[i].mark, s->candidates[i].best ? "**" : "*");
}

static void evaluate(sweep *s)
{
    const candidate *summa = &s->candidates[0];
    int reps = s->p.args->reps;

    for (int i = 0; i < s->count; i++) {
        candidate *c = &s->candidates[i];

        if (!c->plan)
            continue;
        hsumma_plan_query(c->plan, &c->info);
        c->sent = plan_sent_of(&s->p, &c->info);
        c->total = spread_of(c->times, reps);
        c->comm = spread_of(c->comms, reps);
        c->gemm = spread_of(c->gemms, reps);
        c->ratio = summa->plan ? spread_of_ratio(summa->times, c->times, reps) : spread_of(NULL, 0);
    }
    mark_best(s);
}

static int carry_out(sweep *s, const sweep_arguments *args, const char *options, MPI_Comm comm)
{
    const char *plot = args->plot;
    progress bar = {.shown = 0};
    struct hs_message message = {""};
    const char *complaint = NULL;
    int code, rank, passed = 1;

    MPI_Comm_rank(comm, &rank);
    if (plot && rank == 0)
        complaint = plot_check(plot, &message);
    if (command_fail(comm, complaint != NULL, "sweep: --plot %s: %s", plot, complaint))
        return COMMAND_BAD_INPUT;
    if ((code = problem_create(&s->p, &args->common, options, comm)))
        return code;
    if (command_fail(comm, !make_candidates(s), "no memory for the sweep's candidates; give a smaller --reps"))
        return COMMAND_INTERNAL;
    if ((code = make_plans(s)))
        return code;
    choose(s);
    if (rank == 0)
        progress_begin(&bar, 0, args->common.quiet);
    code = measure(s, &bar);
    progress_end(&bar);
    if (code)
        return code;
    evaluate(s);
    if (rank == 0 && !sweep_report(s, stdout))
        complaint = "the report could not be written";
    if (rank == 0 && plot && !complaint)
        complaint = sweep_plot(s, plot, &message);
    if (command_fail(comm, complaint != NULL, "sweep: %s", complaint))
        return COMMAND_INTERNAL;
    for (int i = 0; i < s->count; i++)
        passed &= !s->candidates[i].checked || s->candidates[i].check.passed;
    return passed ? COMMAND_OK : COMMAND_INTERNAL;
}

static void sweep_free(sweep *s)
{
    for (int i = 0; i < s->count; i++) {
        hsumma_plan_free(&s->candidates[i].plan);
        free(s->candidates[i].times);
    }
    free(s->candidates);
    problem_free(&s->p);
}

static int run(const void *args, const char *options, MPI_Comm comm)
{
    sweep s = {.p.mach.node = MPI_COMM_NULL};
    int code = carry_out(&s, args, options, comm);

    sweep_free(&s);
    return code;
}

const subcommand cmd_sweep = {
    .name = "sweep",
    .summary = "time SUMMA and HSUMMA for every group grid, and plot",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(sweep_arguments),
    .defaults = &(const sweep_arguments){.common = ARGUMENTS_DEFAULT(5)},
    .finish = finish,
    .run = run,
};
