/* The device of a context. */
#ifndef HS_API_CONTEXT_DEVICE_H
#define HS_API_CONTEXT_DEVICE_H

#include "hsumma/context/context.h"

/*
 * Opens the device that the option "device" names, on every process or on none. With "auto" it is not an error if some
 * process has no device; the context's note says so. Collective; every rank returns the same status.
 */
hsumma_status hs_context_open_device(hsumma_context *ctx);
/*
 * Sets up device memory for collective calls, after hs_comm_discover. Collective; every rank returns the same status.
 */
hsumma_status hs_context_share_device(hsumma_context *ctx);
/*
 * Ends the use of a context's device, in two steps. hs_context_leave_device waits for the device's work and unmaps the
 * memory of other processes; with `meet` it then waits for all processes, so that no process frees memory that another
 * has mapped. hs_context_close_device is local. In a broken context both do nothing.
 */
void hs_context_leave_device(hsumma_context *ctx, int meet);
void hs_context_close_device(hsumma_context *ctx);

#endif
