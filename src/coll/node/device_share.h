/*
 * What the ranks of a node share of their devices: an allocation of each that all have mapped, and events of each that
 * all can wait for.
 */
#ifndef HS_COLL_NODE_DEVICE_SHARE_H
#define HS_COLL_NODE_DEVICE_SHARE_H

#include "base/device.h"

#include <mpi.h>

struct hs_device_share {
    struct hs_device *device; /* NULL: nothing is shared */
    int ranks, me, events;    /* events of each rank */
    int shares_events;        /* all can wait for the others' events; else only for their own */
    struct hs_event **event;  /* rank r's i-th: [r * events + i]; own ones are recorded here, the others' waited for */
    char **memory;            /* of each rank, as mapped here; NULL where it has none */
};

/*
 * `bytes` of this rank, which may be 0 and differ.  Collective over mates, and the same status on all:
 * HSUMMA_ERR_DEVICE where devices cannot share memory, HSUMMA_ERR_MEMORY.  What fails has left nothing behind.  Events
 * that cannot be shared are no failure.
 */
hsumma_status hs_device_share_make(struct hs_device_share *share, MPI_Comm mates, struct hs_device *device, int events,
                                   size_t bytes, const struct hs_allocator *memory, struct hs_message *message);
/*
 * Nobody may free what another has mapped: CUDA leaves open what happens then, and a new allocation at the same address
 * may be taken for the old one.  So it ends in two steps, both local, with a point between them that all come to after
 * the first: leave unmaps what is the others' (all work that touches it must be over), free gives back the own.
 */
void hs_device_share_leave(struct hs_device_share *share);
void hs_device_share_free(struct hs_device_share *share, const struct hs_allocator *memory);
/* Both steps, with all of mates between them; collective. */
void hs_device_share_end(struct hs_device_share *share, MPI_Comm mates, const struct hs_allocator *memory);

static inline struct hs_event *hs_device_share_event(const struct hs_device_share *share, int rank, int i)
{
    return share->event[rank * share->events + i];
}

#endif
