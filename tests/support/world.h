/*
 * The ranks of an MPI test: this rank, and collective values. These calls yield; MPICH's blocking calls never do, and
 * tests have more ranks than cores.
 */
#ifndef HS_TESTS_SUPPORT_WORLD_H
#define HS_TESTS_SUPPORT_WORLD_H

#include <mpi.h>
#include <stdint.h>

extern int rank, size;

/* Calls MPI_Init; rank 0 prints the tests. Options of the library come only from arguments ("node=messages"), which are
 * put into the environment. */
void world_begin(int *argc, char ***argv);
int64_t world_reduce(int64_t value, MPI_Op op);

/* The smallest value of all ranks if it is negative, else the largest. */
int64_t world_worst(int64_t value);

/* Whether the condition holds on all ranks. */
int everywhere(int good);

#endif
