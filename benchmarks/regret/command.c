/* hsumma_bench regret: what the library chooses against a forced sweep of candidates. */
#include "regret/command.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/command.h"

/* What a case has made. */
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

/* One case, measured and reported.  Collective. */
static int run_case(const regret_arguments *args, const product_case *x, regret_totals *totals, MPI_Comm comm)
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
    code = problem_create(&run->p, &x->args, x->options, comm);
    if (!code)
        code = regret_measure(run);
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

/* Whether the time is up, by rank 0's clock. */
static int is_late(const regret_arguments *args, double begin, MPI_Comm comm)
{
    int late = args->seconds > 0 && MPI_Wtime() - begin > args->seconds;

    quiet_bcast(&late, 1, MPI_INT, 0, comm);
    return late;
}

/* A case that fails does not keep the others from their turn. */
static int carry_out(const regret_arguments *args, MPI_Comm comm)
{
    regret_totals totals = {.cases = 0};
    double begin = MPI_Wtime();
    int worst = COMMAND_OK, rank, bad = 0;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < args->set.count; i++) {
        if (is_late(args, begin, comm)) {
            totals.left_out = args->set.count - i;
            break;
        }
        int code = run_case(args, &args->set.list[i], &totals, comm);
        worst = code > worst ? code : worst;
    }
    if (rank == 0)
        bad = !regret_report_totals(&totals, args, stdout);
    if (command_fail(comm, bad, "regret: the report could not be written"))
        return COMMAND_INTERNAL;
    return args->set.count > 1 && worst ? COMMAND_INTERNAL : worst;
}

int cmd_regret(int argc, char **argv, MPI_Comm comm)
{
    regret_arguments args;
    command_options options;
    int rank, bad, code;

    MPI_Comm_rank(comm, &rank);
    bad = regret_arguments_read(&args, &options, argc, argv, comm);
    if (command_fail(comm, bad, "regret: %s", options.error)) {
        code = COMMAND_BAD_INPUT;
    } else if (args.set.common.help) {
        if (rank == 0)
            regret_help();
        code = COMMAND_OK;
    } else {
        code = carry_out(&args, comm);
    }
    cases_free(&args.set);
    command_options_free(&options);
    return code;
}
