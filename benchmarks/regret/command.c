/* hsumma regret: compares the library's choice with a sweep over candidates. */
#include "regret/command.h"

#include <stddef.h>
#include <stdlib.h>

#include "report/progress.h"

static void run_free(regret_run *run)
{
    for (int i = 0; i < run->count; i++)
        hsumma_plan_free(&run->set[i].plan);
    for (int i = 0; i < REGRET_VERDICTS; i++)
        hsumma_plan_free(&run->automatic[i].plan);
    hsumma_plan_free(&run->blocking.plan);
    free(run->final_times);
    problem_free(&run->p);
}

static int run_case(const regret_arguments *args, const product_case *x, regret_totals *totals, progress *bar,
                    MPI_Comm comm)
{
    regret_run *run = calloc(1, sizeof *run);
    int code = COMMAND_INTERNAL, rank, bad = 0;
    double begin = MPI_Wtime();

    MPI_Comm_rank(comm, &rank);
    if (command_fail(comm, !run, "no memory for a case"))
        goto out;
    run->p.mach.node = MPI_COMM_NULL;
    run->of = args;
    run->which = x;
    run->bar = bar;
    regret_show(run, 0);
    code = problem_create(&run->p, &x->args, x->options, comm);
    if (!code)
        code = regret_measure(run);
    progress_end(bar);
    run->seconds = MPI_Wtime() - begin;
    if (rank == 0)
        bad = code ? !regret_report_failed(x, args->set.common.format, stdout) : !regret_report_case(run, stdout);
    if (command_fail(comm, bad, "regret: the report could not be written"))
        code = COMMAND_INTERNAL;
    if (code)
        totals->failed++;
    else
        regret_add(totals, run);
    if (!code && run->checked && !run->check.passed)
        code = COMMAND_INTERNAL;
    run_free(run);
out:
    free(run);
    return code;
}

/* Runs all cases; a case that fails does not stop the others. */
static int run(const void *of, const char *options, MPI_Comm comm)
{
    const regret_arguments *args = of;
    regret_totals totals = {.cases = 0};
    progress bar = {.shown = 0};
    double begin = MPI_Wtime();
    int worst = COMMAND_OK, rank, bad = 0;

    (void)options; /* each case's options include them */
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        progress_begin(&bar, 0, args->set.common.quiet);
    for (int i = 0; i < args->set.count; i++) {
        if (args->seconds > 0 && is_past(begin + args->seconds, comm)) {
            totals.left_out = args->set.count - i;
            break;
        }
        int code = run_case(args, &args->set.list[i], &totals, &bar, comm);
        worst = code > worst ? code : worst;
    }
    if (rank == 0)
        bad = !regret_report_totals(&totals, args, stdout);
    if (command_fail(comm, bad, "regret: the report could not be written"))
        return COMMAND_INTERNAL;
    return args->set.count > 1 && worst ? COMMAND_INTERNAL : worst;
}

/* --- the command line -------------------------------------------------------------------------------------------- */

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma regret [OPTION...]\n"
           "\n"
           "Measures how good the library's choices are. For each case it times the automatic plan, at most %d other "
           "plans\n"
           "forced by options, then the best %d of these and the automatic plan in turns. Regret is the time of the\n"
           "automatic plan divided by that of the best other plan (median over the rounds); a loss is a regret whose\n"
           "lower quartile exceeds 1. Communication is predicted for every plan that runs, and the automatic plan is "
           "also\n"
           "timed with lookahead 0, where communication is not overlapped, if it sends messages.\n"
           "\n",
           REGRET_CANDIDATES, REGRET_BEST);
    arguments_help();
    arguments_help_run("rounds of the last comparison (default: 7)",
                       "check a result of the automatic plan: the residual, 64 entries of C per process,\n"
                       "                          and every row with a strict bound",
                       "table|json");
    printf(
        "  --cases FILE            one case per line: options of the product, of processes and distribution and of\n"
        "                          the library, added to those of the command line; # begins a comment (default:\n"
        "                          one case, that of the command line)\n"
        "  --measure               also time the plan that tune=measure selects\n"
        "  --sweep-reps N          runs of each candidate, one more if the first serves as a warm-up; the fastest\n"
        "                          counts (default: 2)\n"
        "  --cap FACTOR            no further runs of a candidate whose first takes more than FACTOR times the best\n"
        "                          so far (default: 3)\n"
        "  --seconds S             start no case later than S seconds after the beginning (default: no limit)\n"
        "--format json prints one line per case.\n"
        "\n"
        "The candidates: rows of cross products, without those that are refused or give the same plan as another\n");
    regret_candidates_help(stdout);
    printf(
        "  largest, others: of op(A), op(B), C; each: at most four group grids, the squarest of\n"
        "  each number of groups, those nearest to the square root of the processes first; middle: the first of these\n"
        "\n"
        "The plan: options of the library, for all plans (default of --tuned: none)\n");
}

#define AT(member) .field = offsetof(regret_arguments, member)
static const argument own_arguments[] = {
    {.rows = arguments_all, AT(set.common)},
    {"cases", .read = argument_text, AT(set.file)},
    {"measure", .read = argument_flag, AT(measure)},
    {"sweep-reps", .read = argument_int, AT(sweep_reps), .least = 1, .most = 1000,
     .expected = "a number of runs from 1 to 1000"},
    {"cap", .read = argument_double, AT(cap), .least = 1, .most = INT64_MAX, .expected = "a factor of at least 1"},
    {"seconds", .read = argument_seconds, AT(seconds), .expected = "a number of seconds above 0"},
    {.name = NULL}};

static int finish(void *of, command_options *options)
{
    regret_arguments *args = of;

    if (args->set.common.format == REPORT_CSV)
        return command_bad_value(options, "format", "csv", "table or json");
    return cases_read(&args->set, "tuned=none", options);
}

static void release(void *of)
{
    regret_arguments *args = of;

    cases_free(&args->set);
}

const subcommand cmd_regret = {
    .name = "regret",
    .summary = "compare the library's choices with a sweep of forced candidates",
    .help = print_help,
    .ending = "Exit status: 0 done, 1 a check or a case failed, 2 the input was wrong.\n",
    .table = own_arguments,
    .size = sizeof(regret_arguments),
    .defaults = &(const regret_arguments){.set.common = ARGUMENTS_DEFAULT(7), .sweep_reps = 2, .cap = 3},
    .finish = finish,
    .run = run,
    .release = release,
};
