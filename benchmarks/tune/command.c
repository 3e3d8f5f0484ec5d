/* hsumma_bench tune: measures what could serve, and remembers the fastest. */
#include "tune/command.h"

#include "commands.h"

int cmd_tune(int argc, char **argv, MPI_Comm comm)
{
    tune_arguments args;
    command_options options;
    char path[TUNE_PATH];
    int rank, code, bad = tune_arguments_read(&args, &options, argc, argv, comm);

    MPI_Comm_rank(comm, &rank);
    if (command_fail(comm, bad, "tune: %s", options.error)) {
        code = COMMAND_BAD_INPUT;
    } else if (args.set.common.help) {
        if (rank == 0)
            tune_help();
        code = COMMAND_OK;
    } else {
        code = tune_find_file(&args, path, comm);
        if (!code)
            code = args.coll ? tune_collectives(&args, options.text, path, comm) : tune_products(&args, path, comm);
    }
    cases_free(&args.set);
    command_options_free(&options);
    return code;
}
