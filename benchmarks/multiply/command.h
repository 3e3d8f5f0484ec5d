/* hsumma multiply: its arguments, and the command. */
#ifndef HS_BENCHMARKS_MULTIPLY_COMMAND_H
#define HS_BENCHMARKS_MULTIPLY_COMMAND_H

#include <mpi.h>
#include <stdint.h>

#include "common/command.h"

typedef struct multiply_arguments {
    const char *a, *b, *c0, *out; /* paths; c0 may be NULL */
    char transa, transb;
    double alpha[2], beta[2];
    int has_beta;     /* 1: --beta was given */
    char order;       /* 'C' or 'F': the order of the output; 0: not given */
    int nprow, npcol; /* 0: not given */
    int64_t nb;       /* 0: checkerboard */
    int64_t piece;    /* bytes per rank in each MPI-IO call */
    int force, quiet, progress;
} multiply_arguments;

/* Runs the command; `options` is text for the library. Collective; an exit status, the same on all ranks, after rank 0
 * has printed an error. */
int multiply_run(const void *args, const char *options, MPI_Comm comm);

#endif
