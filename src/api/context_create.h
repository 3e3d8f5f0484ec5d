/* Creation of a context. */
#ifndef HS_API_CONTEXT_CREATE_H
#define HS_API_CONTEXT_CREATE_H

#include "base/status.h"

/*
 * Like hsumma_create. Without `collectives` it skips the team and the shared memory, which only collective calls need:
 * for the shim of ScaLAPACK, which creates a context for the communicator of each BLACS context. Collective; errors and
 * message as for hsumma_create.
 */
hsumma_status hs_context_create(MPI_Comm comm, const char *options, int collectives, hsumma_context **ctx,
                                char *message, size_t size);

#endif
