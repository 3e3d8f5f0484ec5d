/* What context_create.c makes a context of, beside its device. */
#ifndef HS_API_CONTEXT_PARTS_H
#define HS_API_CONTEXT_PARTS_H

#include "hsumma/context/context.h"

/*
 * context_files.c: the options profile and tuned.  One process reads the files, and tells the others.  A file that was
 * named and cannot be read is HSUMMA_ERR_OPTION; so is a damaged tuned file that was named.  Else what is refused
 * (damaged, an older or later version, the profile of another machine) is not used, and why stands in ctx->note, which
 * plans repeat.  Collective; the same status on all.
 */
hsumma_status hs_files_read(hsumma_context *ctx);

/* register.c: algorithms that the user has registered. */
void hs_own_algorithms_free(struct hs_registry *own, const struct hs_allocator *memory);

#endif
