/* The device of a context. */
#ifndef HS_API_CONTEXT_DEVICE_H
#define HS_API_CONTEXT_DEVICE_H

#include "hsumma/context/context.h"

/*
 * Opens what the option "device" names, on every process or on none.  Collective, and the same status on all.  "auto"
 * without a device everywhere is no error, but goes into the context's note.
 */
hsumma_status hs_context_open_device(hsumma_context *ctx);
/* What collective calls need on it, after hs_comm_discover.  Collective, and the same status on all. */
hsumma_status hs_context_share_device(hsumma_context *ctx);
/*
 * The end of a context with a device, in two steps: leave waits for the device's work and unmaps what is other
 * processes'; `meet`: and then for those, so that nobody frees what another has mapped.  Close is local.
 */
void hs_context_leave_device(hsumma_context *ctx, int meet);
void hs_context_close_device(hsumma_context *ctx);

#endif
