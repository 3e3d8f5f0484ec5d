/* "hsumma_bench multiply": its command line, and the work. */
#ifndef HS_BENCHMARKS_MULTIPLY_COMMAND_H
#define HS_BENCHMARKS_MULTIPLY_COMMAND_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "common/command.h"

typedef struct multiply_arguments {
    const char *a, *b, *c0, *out; /* paths; c0 may be NULL */
    char transa, transb;
    double alpha[2], beta[2];
    int has_beta;     /* it was given */
    char order;       /* 'C' or 'F' for the output; 0: not given */
    int nprow, npcol; /* 0: not given */
    int64_t nb;       /* 0: checkerboard */
    int64_t piece;    /* bytes that a rank moves in one call of MPI-IO */
    int force, quiet, progress, help;
} multiply_arguments;

/* Reads the command line; nonzero with options->error set if something is wrong with it. Local. Free the options
 * always. */
int multiply_parse(multiply_arguments *args, command_options *options, int argc, char **argv);

void multiply_help(FILE *file);

/* Does it; `options` is text for the library. Collective; an exit status, the same on all ranks, after rank 0 has
 * printed what was wrong. */
int multiply_run(const multiply_arguments *args, const char *options, MPI_Comm comm);

/* The subcommand: argv[0] is its name. Collective, the same exit status on all ranks. */
int cmd_multiply(int argc, char **argv, MPI_Comm comm);

#endif
