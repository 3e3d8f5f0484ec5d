/* The files that a context reads at its creation: one process reads, and tells the others. */
#ifndef HS_API_CONTEXT_FILES_H
#define HS_API_CONTEXT_FILES_H

#include "hsumma/context/context.h"

/*
 * The options profile and tuned.  A file that was named and cannot be read is HSUMMA_ERR_OPTION; so is a damaged tuned
 * file that was named.  Else what is refused (damaged, an older or later version, the profile of another machine) is
 * not used, and why stands in ctx->note, which plans repeat.  Collective; the same status on all.
 */
hsumma_status hs_files_read(hsumma_context *ctx);

#endif
