/*
 * The part of the executor for lists on device memory. The host walks the list; the context's stream executes the
 * operations in the order in which they were enqueued.
 *
 * COPY and REDUCE count as done when they are enqueued, since dependent operations are enqueued after them. SIGNAL
 * records an event on the stream, then raises the flag; WAIT sees the flag, then makes the stream wait for the peer's
 * event. If devices cannot wait for each other's events, SIGNAL raises the flag only when its event is complete.
 * Messages wait for the operations on their data (bounce.h). Before an instance uses a slot of the ring, the stream
 * waits for the end events of the instance that used the slot's SHARED before (hs_shm.depth).
 */
#ifndef HS_COLL_RUN_EXECUTOR_DEVICE_H
#define HS_COLL_RUN_EXECUTOR_DEVICE_H

#include "coll/run/device_comm.h"
#include "coll/run/executor.h"

/* Copies before and after an instance some of whose slots are staged copies of the caller's memory. */
struct hs_device_io {
    struct hs_device_copy before[2], after;
    int pool;               /* true if staged copies are in the pool, which one instance uses at a time */
    int hold;               /* true if the instance uses host memory, so its operations must be complete at its end */
    struct hs_event *event; /* event private to this rank, used if `hold` is set, or if the host performs the call */
};

/* The address of `ref` in this process; NULL for a peer's memory that this process has not mapped. */
char *hs_device_address(const struct hs_instance *instance, struct hs_ref ref);

/* executor.c calls begin and enter before the steps, end after them; enter and end until *entered or *complete is 1. */
void hs_device_begin(struct hs_instance *instance);
hsumma_status hs_device_enter(struct hs_instance *instance, int *entered);
/* Begins or continues a step whose dependencies are done. */
hsumma_status hs_device_step(struct hs_instance *instance, int index, int *worked);
hsumma_status hs_device_end(struct hs_instance *instance, int *complete);

#endif
