/*
 * What the ranks of a node share of their devices: an allocation of each that all have mapped, and events of each that
 * all can wait for.
 * layers: uses MPI
 */
#ifndef HS_COLL_DEVICE_SHARE_H
#define HS_COLL_DEVICE_SHARE_H

#include "base/device.h"

#include <mpi.h>

struct hs_device_share {
    struct hs_device *device; /* NULL: nothing is shared */
    int ranks, me, events;    /* events of each rank */
    struct hs_event **event;  /* rank r's i-th: [r * events + i]; own ones are recorded here, the others' waited for */
    char **memory;            /* of each rank, as mapped here; NULL where it has none */
};

/*
 * `bytes` of this rank, which may be 0 and differ.  Collective over mates, and the same status on all:
 * HSUMMA_ERR_DEVICE where devices cannot share, HSUMMA_ERR_MEMORY.  What fails has left nothing behind.
 */
hsumma_status hs_device_share_make(struct hs_device_share *share, MPI_Comm mates, struct hs_device *device, int events,
                                   size_t bytes, const struct hs_allocator *memory, struct hs_message *message);
/* Local.  All work that touches it must be over. */
void hs_device_share_free(struct hs_device_share *share, const struct hs_allocator *memory);

static inline struct hs_event *hs_device_share_event(const struct hs_device_share *share, int rank, int i)
{
    return share->event[rank * share->events + i];
}

#endif
