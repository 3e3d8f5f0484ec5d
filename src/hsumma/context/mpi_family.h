/* Whose mpi.h this has been compiled with, and whose library answers: across families handles and constants differ, so
 * that any other call would crash. */
#ifndef HS_HSUMMA_CONTEXT_MPI_FAMILY_H
#define HS_HSUMMA_CONTEXT_MPI_FAMILY_H

#include <stddef.h>

/* MPICH's ABI has several other names. */
enum hs_mpi_family { HS_MPI_UNKNOWN, HS_MPI_MPICH, HS_MPI_OPENMPI, HS_MPI_FAMILIES };

extern const char *const hs_mpi_family_name[HS_MPI_FAMILIES];

enum hs_mpi_family hs_mpi_built(void);

/* The family of the library in the process, and up to size bytes of its name: "MPICH 4.0.2".  Before MPI_Init, too. */
enum hs_mpi_family hs_mpi_runs(char *name, size_t size);

#endif
