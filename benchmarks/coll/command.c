/* hsumma_bench coll: the subcommand. */
#include "coll/command.h"

#include "commands.h"
#include "report/plot.h"

/* What needs no other rank is done by the first; they wait. */
static int alone(const coll_arguments *args, MPI_Comm comm)
{
    int rank, code = COMMAND_OK;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && args->help)
        coll_help();
    else if (rank == 0)
        code = args->mode == COLL_LIST    ? coll_list(args)
               : args->mode == COLL_DUMP  ? coll_dump(args)
               : args->mode == COLL_AGAIN ? coll_again(args)
                                          : coll_verify(args);
    quiet_bcast(&code, 1, MPI_INT, 0, comm);
    return code;
}

int cmd_coll(int argc, char **argv, MPI_Comm comm)
{
    const char *complaint = NULL;
    coll_arguments args;
    command_options options;
    int rank, code, bad = coll_arguments_read(&args, &options, argc, argv);

    MPI_Comm_rank(comm, &rank);
    if (command_fail(comm, bad, "coll: %s", options.error)) {
        code = COMMAND_BAD_INPUT;
    } else {
        if (args.plot && rank == 0 && !args.help)
            complaint = plot_check(args.plot);
        if (command_fail(comm, complaint != NULL, "coll: --plot %s: %s", args.plot ? args.plot : "",
                         complaint ? complaint : ""))
            code = COMMAND_BAD_INPUT;
        else if (args.help || args.mode != COLL_TIME)
            code = alone(&args, comm);
        else
            code = coll_time(&args, options.text, comm);
    }
    command_options_free(&options);
    return code;
}
