/* How the processes of a context multiply what is their own. */
#ifndef HS_API_LOCAL_PRODUCT_H
#define HS_API_LOCAL_PRODUCT_H

#include "hsumma/context/context.h"

/* In a context with a device, which all have opened.  Collective; the status is this process's. */
hsumma_status hs_context_make_local(hsumma_context *ctx, const struct hs_settings *settings, struct hs_message *why);

#endif
