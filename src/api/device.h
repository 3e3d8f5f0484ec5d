/* The device of a context. */
#ifndef HS_API_DEVICE_H
#define HS_API_DEVICE_H

#include "hsumma/context.h"

/*
 * Opens what the option "device" names, on every process or on none.  Collective, and the same status on all.  "auto"
 * without a device everywhere is no error, but goes into the context's note.
 */
hsumma_status hs_context_open_device(hsumma_context *ctx);
/* Waits for its work first.  Local. */
void hs_context_close_device(hsumma_context *ctx);

#endif
