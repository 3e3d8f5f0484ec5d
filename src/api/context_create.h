/* Creation of a context. */
#ifndef HS_API_CONTEXT_CREATE_H
#define HS_API_CONTEXT_CREATE_H

#include "base/status.h"

/*
 * hsumma_create; without `collectives` it leaves out what only collective calls need (topology, shared memory), because
 * a shim makes a context for each communicator that it sees. Collective; errors and message as for hsumma_create.
 */
hsumma_status hs_context_create(MPI_Comm comm, const char *options, int collectives, hsumma_context **ctx,
                                char *message, size_t size);

#endif
