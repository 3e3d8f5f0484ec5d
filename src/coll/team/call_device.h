/*
 * Calls on device memory: staged copies of the caller's buffers that cannot be used in place, and calls that the host
 * performs on copies.
 *
 * If the device performs the call, staged copies in device memory replace buffers in host memory, an in-place
 * contribution, and memory that peers read but have not mapped; a copy that peers read is in the pool. If the host
 * performs the call, staged copies in host memory replace buffers in device memory and an in-place contribution.
 */
#ifndef HS_COLL_TEAM_CALL_DEVICE_H
#define HS_COLL_TEAM_CALL_DEVICE_H

#include "coll/team/signature.h"

/* True if a call uses device memory on this rank; 0 if `on` is NULL or the vector is empty. */
int hs_call_is_on_device(const struct hs_device_comm *on, const struct hs_call *call);

/*
 * get allocates `scratch` bytes of SCRATCH and an event for an operation (errors: HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_DEVICE). put frees them and the staged copies, except SCRATCH in host memory, which the caller frees.
 */
hsumma_status hs_device_call_get(struct hs_operation *operation, int64_t scratch);
void hs_device_call_put(struct hs_operation *operation);
/* Allocates memory for this call's staged copies that are not in the pool; the memory is kept for later calls. */
hsumma_status hs_device_call_need(struct hs_operation *operation, const struct hs_call *call);
/* The bytes of the pool that calls of this kind may need on this rank. */
size_t hs_device_call_pool(const struct hs_signature *signature, const struct hs_call *call);

/* Starts a call that is bound as one on host memory; slots that need staging are bound to the staged copies instead. */
hsumma_status hs_device_call_start(struct hs_operation *operation, const struct hs_call *call, struct hs_comm *comm);

/* These are for calls on host memory, too. */
hsumma_status hs_operation_progress(struct hs_operation *operation, struct hs_comm *comm, int *worked);
int hs_operation_is_active(const struct hs_operation *operation);
/* True if the host performs the call but has not started it, because its data are still being copied. */
int hs_operation_is_early(const struct hs_operation *operation);

#endif
