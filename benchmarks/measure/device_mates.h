/* Who shares a device with whom. */
#ifndef HS_BENCHMARKS_MEASURE_DEVICE_MATES_H
#define HS_BENCHMARKS_MEASURE_DEVICE_MATES_H

#include "hsumma/context/context.h"

/* The ranks whose device is this rank's, in their order; free it with MPI_Comm_free.  Collective over comm; an exit
 * status, after printing. */
int device_mates(const hsumma_context *ctx, MPI_Comm comm, MPI_Comm *mates);

#endif
