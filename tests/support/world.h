/*
 * The ranks of an MPI test: this rank, and values that all ranks agree on. These functions yield the processor while
 * they wait, which MPICH's blocking calls do not do; tests have more ranks than cores.
 */
#ifndef HS_TESTS_SUPPORT_WORLD_H
#define HS_TESTS_SUPPORT_WORLD_H

#include <mpi.h>
#include <stdint.h>

extern int rank, size;

/* Calls MPI_Init; only rank 0 prints test results. Options of the library come from program arguments only
 * ("node=messages"), which are put into the environment. */
void world_begin(int *argc, char ***argv);

/* Calls MPI_Finalize and tap_done; returns the exit status. */
int world_end(void);
int64_t world_reduce(int64_t value, MPI_Op op);

/* The smallest value over all ranks if it is negative, else the largest. */
int64_t world_worst(int64_t value);

/* Whether `good` is nonzero on all ranks; whether `value` is the same on all. */
int everywhere(int good);
int alike(int64_t value);

#endif
