/* The family of the MPI that hsumma was compiled for, and of the MPI that the process has loaded.  Handles and
 * constants differ between families, so a mismatch crashes at the first call with a handle. */
#ifndef HS_HSUMMA_CONTEXT_MPI_FAMILY_H
#define HS_HSUMMA_CONTEXT_MPI_FAMILY_H

#include <stddef.h>

/* Intel MPI, MVAPICH and Cray MPICH have MPICH's ABI. */
enum hs_mpi_family { HS_MPI_UNKNOWN, HS_MPI_MPICH, HS_MPI_OPENMPI, HS_MPI_FAMILIES };

extern const char *const hs_mpi_family_name[HS_MPI_FAMILIES];

enum hs_mpi_family hs_mpi_built(void);

/* The family of the MPI library that the process has loaded.  Stores its name, such as "MPICH 4.0.2", in up to `size`
 * bytes.  Works before MPI_Init. */
enum hs_mpi_family hs_mpi_runs(char *name, size_t size);

#endif
