/* Making a context. */
#ifndef HS_API_CONTEXT_CREATE_H
#define HS_API_CONTEXT_CREATE_H

#include "base/status.h"

/*
 * hsumma_create without what collective calls alone need (topology, shared memory), unless `collectives`: a shim makes
 * a context for each communicator that it meets.  Collective; errors and message as there.
 */
hsumma_status hs_context_create(MPI_Comm comm, const char *options, int collectives, hsumma_context **ctx,
                                char *message, size_t size);

#endif
