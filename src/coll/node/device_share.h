/*
 * What the ranks of a node share of their devices: one allocation per rank that all have mapped, and events per rank
 * that all can wait for.
 */
#ifndef HS_COLL_NODE_DEVICE_SHARE_H
#define HS_COLL_NODE_DEVICE_SHARE_H

#include "base/device.h"

#include <mpi.h>

struct hs_device_share {
    struct hs_device *device; /* NULL: nothing is shared */
    int ranks, me, events;    /* events: per rank */
    int shares_events;        /* all can wait for the others' events; else each only for its own */
    /* Event i of rank r: [r * events + i]. A rank records its own and waits for the others'. */
    struct hs_event **event;
    char **memory; /* each rank's allocation as mapped here; NULL if it has none */
};

/*
 * Shares `bytes` of this rank's device, which may be 0 and differ between ranks. Collective over mates, same status on
 * all: HSUMMA_ERR_DEVICE if the devices cannot share memory, HSUMMA_ERR_MEMORY. Nothing is leaked after an error.
 * Events that cannot be shared are not an error.
 */
hsumma_status hs_device_share_make(struct hs_device_share *share, MPI_Comm mates, struct hs_device *device, int events,
                                   size_t bytes, const struct hs_allocator *memory, struct hs_message *message);
/*
 * Memory must not be freed while another rank has it mapped: CUDA leaves the behaviour undefined, and a new allocation
 * at the same address may be taken for the old one. So ending takes two local steps, with a synchronisation of all
 * ranks between them: leave unmaps the others' memory (all work on it must be complete), free frees this rank's own.
 */
void hs_device_share_leave(struct hs_device_share *share);
void hs_device_share_free(struct hs_device_share *share, const struct hs_allocator *memory);
/* Leave, a synchronisation of mates, and free; collective. */
void hs_device_share_end(struct hs_device_share *share, MPI_Comm mates, const struct hs_allocator *memory);

static inline struct hs_event *hs_device_share_event(const struct hs_device_share *share, int rank, int i)
{
    return share->event[rank * share->events + i];
}

#endif
