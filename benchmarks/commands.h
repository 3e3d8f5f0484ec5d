/* The measuring subcommands of hsumma_bench; cmd_multiply is in benchmarks/multiply/command.h. Each reads its arguments
 * (argv[0] is its name), is collective over comm, and returns the exit status of the program, on every rank. */
#ifndef HS_BENCHMARKS_COMMANDS_H
#define HS_BENCHMARKS_COMMANDS_H

#include <mpi.h>

int cmd_calibrate(int argc, char **argv, MPI_Comm comm);
int cmd_coll(int argc, char **argv, MPI_Comm comm);
int cmd_explain(int argc, char **argv, MPI_Comm comm);
int cmd_gemm(int argc, char **argv, MPI_Comm comm);
int cmd_regret(int argc, char **argv, MPI_Comm comm);
int cmd_sweep(int argc, char **argv, MPI_Comm comm);
int cmd_tune(int argc, char **argv, MPI_Comm comm);

#endif
