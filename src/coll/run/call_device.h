/*
 * Calls whose memory is a device's: what stands in for the caller's buffers where they cannot be used as they are, and
 * calls that the host does on copies.
 *
 * A call that the device does: a buffer in memory of the host, a contribution that lies in out, and what peers are to
 * read but have not mapped get staged copies in device memory, the last ones in the pool.  One that the host does:
 * buffers in device memory get staged copies in the host's.
 */
#ifndef HS_COLL_RUN_CALL_DEVICE_H
#define HS_COLL_RUN_CALL_DEVICE_H

#include "coll/run/signature.h"

/* Whether a call, which hs_call_read has read, is one on a device.  on NULL: never. */
int hs_call_is_on_device(const struct hs_device_comm *on, const struct hs_call *call);

/* Memory of an operation: SCRATCH, and an event.  HSUMMA_ERR_MEMORY, HSUMMA_ERR_DEVICE; put takes all of it back. */
hsumma_status hs_device_call_get(struct hs_operation *operation, int64_t scratch);
void hs_device_call_put(struct hs_operation *operation);
/* What stands in for this call's buffers beside the pool; kept for later ones. */
hsumma_status hs_device_call_need(struct hs_operation *operation, const struct hs_call *call);
/* Bytes of the pool that calls of this kind may need on this rank. */
size_t hs_device_call_pool(const struct hs_signature *signature, const struct hs_call *call);

/* binding: as for a call in host memory; completes it. */
hsumma_status hs_device_call_start(struct hs_operation *operation, const struct hs_call *call, struct hs_comm *comm,
                                   const struct hs_binding *binding);
hsumma_status hs_device_call_progress(struct hs_operation *operation, struct hs_comm *comm, int *worked);
int hs_device_call_is_active(const struct hs_operation *operation);
/* The host has not begun it yet: its memory is on the way. */
int hs_device_call_is_early(const struct hs_operation *operation);

#endif
