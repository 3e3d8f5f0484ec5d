/* The hsumma command: multiplies matrices in files, explains plans, measures and tunes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "common/command.h"
#include "doctor/doctor.h"

static const subcommand *const commands[] = {&cmd_calibrate, &cmd_coll,     &cmd_doctor,       &cmd_explain,
                                             &cmd_gemm,      &cmd_multiply, &cmd_redistribute, &cmd_regret,
                                             &cmd_soak,      &cmd_sweep,    &cmd_trace,        &cmd_tune};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(void)
{
    printf("Usage: mpiexec -n RANKS hsumma COMMAND [OPTION...]\n"
           "\n"
           "Distributed C := alpha op(A) op(B) + beta C by SUMMA and HSUMMA, and the collectives that it uses.\n"
           "\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n  hsumma COMMAND --help    the options of a command\n"
           "  hsumma --version\n\n"
           "Exit status: 0 done, 1 a check or the run failed, 2 the input was wrong.\n");
}

static void print_version(void)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int major, minor, patch, length;

    hsumma_version(&major, &minor, &patch);
    MPI_Get_library_version(mpi, &length);
    printf("hsumma %d.%d.%d, library %d.%d.%d\n%s ScaLAPACK to compare with\nMPI: %.*s\n", HSUMMA_VERSION_MAJOR,
           HSUMMA_VERSION_MINOR, HSUMMA_VERSION_PATCH, major, minor, patch, HSUMMA_HAVE_SCALAPACK ? "with" : "without",
           (int)strcspn(mpi, "\n"), mpi);
}

/* Runs the command that argv names, the same on all ranks; returns its exit status. */
static int dispatch(int argc, char **argv, int rank)
{
    const char *word = argc > 1 ? argv[1] : "";
    struct hs_guess guess = hs_guess_of(word, strlen(word));
    char meant[80];

    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        if (rank == 0)
            print_help();
        return COMMAND_OK;
    }
    if (!strcmp(word, "--version")) {
        if (rank == 0)
            print_version();
        return COMMAND_OK;
    }
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(word, commands[i]->name))
            return command_run(commands[i], argc - 1, argv + 1, MPI_COMM_WORLD);
    for (int i = 0; i < COMMANDS; i++)
        hs_guess_try(&guess, commands[i]->name, strlen(commands[i]->name));
    hs_guess_text(&guess, "", meant, sizeof meant);
    command_fail(MPI_COMM_WORLD, 1, "%s%s%s", argc > 1 ? "unknown command " : "no command is given", word,
                 meant[0] ? meant : "; see hsumma --help");
    return COMMAND_BAD_INPUT;
}

int main(int argc, char **argv)
{
    int rank, provided, code, is_doctor = argc > 1 && !strcmp(argv[1], cmd_doctor.name);

    if (is_doctor)
        doctor_before_mpi();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is_doctor || !doctor_refuses(MPI_COMM_WORLD, &code))
        code = dispatch(argc, argv, rank);
    quiet_barrier(MPI_COMM_WORLD); /* the blocking barrier of MPI_Finalize would take cores from slower ranks */
    MPI_Finalize();
    return code;
}
