/* What context_create.c makes a context of, beside its device. */
#ifndef HS_API_CONTEXT_PARTS_H
#define HS_API_CONTEXT_PARTS_H

#include "hsumma/context/context.h"
#include "hsumma/network/network.h"

/*
 * context_files.c: the options profile and tuned.  One process reads the files, and tells the others.  A file that was
 * named and cannot be read is HSUMMA_ERR_OPTION; so is a damaged tuned file that was named.  Else what is refused
 * (damaged, an older or later version, the profile of another machine) is not used, and why stands in ctx->note, which
 * plans repeat.  Collective; the same status on all.
 */
hsumma_status hs_files_read(hsumma_context *ctx);

/*
 * context_network.c.  With the profile that is built in, the context of several nodes knows what lies between them from
 * the tuned file, from an earlier context of this process (hs_network_known), or measures it, once the topology is
 * known.  Collective; the same status on all.
 */
hsumma_status hs_context_measure_network(hsumma_context *ctx);
int hs_network_known(uint64_t key, struct hs_network *network);

/* register.c: algorithms that the user has registered. */
void hs_own_algorithms_free(struct hs_registry *own, const struct hs_allocator *memory);

#endif
