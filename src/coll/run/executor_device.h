/*
 * The executor's part for lists whose memory is a device's.  The host walks the list; the context's stream does the
 * work, in the order in which it is put there.
 *
 * COPY and REDUCE are done as soon as they are on the stream: whatever depends on them comes behind.  SIGNAL records an
 * event behind them, and then raises the flag; WAIT sees the flag, and then makes the stream wait for the peer's event.
 * Where devices cannot wait for each other's events, SIGNAL raises the flag when its event is over.  Messages wait for
 * the work on what they carry (bounce.h).  A slot of the ring is entered behind the ends of those who used it.
 */
#ifndef HS_COLL_RUN_EXECUTOR_DEVICE_H
#define HS_COLL_RUN_EXECUTOR_DEVICE_H

#include "coll/run/device_comm.h"
#include "coll/run/executor.h"

/* What happens around an instance for memory that stands in for the caller's. */
struct hs_device_io {
    struct hs_device_copy before[2], after;
    int pool;               /* staged copies lie in the pool, which one instance has at a time */
    int hold;               /* it ends when its work is over, not before: memory of the host takes part */
    struct hs_event *event; /* of this rank alone, for `hold` */
};

/* Where a reference is mapped here; NULL: a peer's memory that this process has not mapped. */
char *hs_device_address(const struct hs_instance *instance, struct hs_ref ref);

/* Steps around those of executor.c; *entered and *over are set to 1 when it is so far. */
void hs_device_begin(struct hs_instance *instance);
hsumma_status hs_device_enter(struct hs_instance *instance, int *entered);
/* Begins a step whose dependencies are done, or goes on with it. */
hsumma_status hs_device_step(struct hs_instance *instance, int index, int *worked);
hsumma_status hs_device_end(struct hs_instance *instance, int *complete);

#endif
