/*
 * The executor's part for lists on device memory. The host walks the list; the context's stream executes the work in
 * the order in which it was enqueued.
 *
 * COPY and REDUCE count as done once they are enqueued, since dependent work is enqueued after them. SIGNAL records an
 * event after them, then raises the flag; WAIT sees the flag, then makes the stream wait for the peer's event. If
 * devices cannot wait for each other's events, SIGNAL raises the flag only when its event is complete. Messages wait
 * for the work on their data (bounce.h). Before an instance uses a slot of the ring, its stream waits for the end
 * events of the slot's previous users.
 */
#ifndef HS_COLL_RUN_EXECUTOR_DEVICE_H
#define HS_COLL_RUN_EXECUTOR_DEVICE_H

#include "coll/run/device_comm.h"
#include "coll/run/executor.h"

/* Copies and conditions around an instance whose slots are not all the caller's memory. */
struct hs_device_io {
    struct hs_device_copy before[2], after;
    int pool;               /* staged copies are in the pool, which one instance uses at a time */
    int hold;               /* the instance ends only when its work is complete, since host memory is involved */
    struct hs_event *event; /* private to this rank, for `hold` */
};

/* Local address of a reference; NULL: a peer's memory that this process has not mapped. */
char *hs_device_address(const struct hs_instance *instance, struct hs_ref ref);

/* Called by executor.c around the steps; *entered and *complete are set to 1 when that is achieved. */
void hs_device_begin(struct hs_instance *instance);
hsumma_status hs_device_enter(struct hs_instance *instance, int *entered);
/* Begins a step whose dependencies are done, or continues it. */
hsumma_status hs_device_step(struct hs_instance *instance, int index, int *worked);
hsumma_status hs_device_end(struct hs_instance *instance, int *complete);

#endif
