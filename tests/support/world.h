/*
 * The ranks of an MPI test: which one this is, and values that all agree on.  MPICH's blocking calls never yield the
 * processor, and tests have more ranks than cores; these calls yield.
 */
#ifndef HS_TESTS_SUPPORT_WORLD_H
#define HS_TESTS_SUPPORT_WORLD_H

#include <mpi.h>
#include <stdint.h>

extern int rank, size;

/* MPI_Init, rank and size; rank 0 prints the tests.  Options of the library are only those among the arguments
 * ("node=messages"), which go to the environment. */
void world_begin(int *argc, char ***argv);
int64_t world_reduce(int64_t value, MPI_Op op);

/* The largest magnitude, with the sign of the most negative value if there is one. */
int64_t world_worst(int64_t value);

/* Whether it holds on all ranks. */
int everywhere(int good);

#endif
