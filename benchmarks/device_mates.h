/* Who shares a device with whom. */
#ifndef HSUMMA_BENCHMARKS_DEVICE_MATES_H
#define HSUMMA_BENCHMARKS_DEVICE_MATES_H

#include "hsumma/context.h"

/* The ranks whose device is this rank's, in their order; free it with MPI_Comm_free.  Collective over comm; an exit
 * status, after printing. */
int device_mates(const hsumma_context *ctx, MPI_Comm comm, MPI_Comm *mates);

#endif
