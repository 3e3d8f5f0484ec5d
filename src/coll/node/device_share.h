/*
 * Device memory and events shared by the ranks of a node: one allocation per rank, which all ranks have mapped, and a
 * number of events per rank, which all ranks can wait for if the devices allow it.
 */
#ifndef HS_COLL_NODE_DEVICE_SHARE_H
#define HS_COLL_NODE_DEVICE_SHARE_H

#include "base/device.h"

#include <mpi.h>

struct hs_device_share {
    struct hs_device *device; /* NULL if nothing is shared */
    const struct hs_watch *watch;
    int ranks, me, events; /* events: number of events per rank */
    int shares_events;     /* true if ranks can wait for each other's events; else each only for its own */
    /* event[r * events + i] is event i of rank r. A rank records its own events and waits for those of others. */
    struct hs_event **event;
    char **memory; /* address in this process of each rank's allocation, indexed by rank; NULL for a rank without one */
};

/*
 * Allocates and shares `bytes` bytes of device memory on this rank; the number may be 0 and differ between ranks. The
 * number of events per rank must be the same on all ranks.
 * Collective over mates, same status on all: HSUMMA_ERR_DEVICE if the devices cannot share memory, HSUMMA_ERR_MEMORY,
 * HSUMMA_ERR_UNSUPPORTED for too many events, HSUMMA_ERR_MPI. After an error all memory is freed, unless peers may have
 * it mapped. If events cannot be shared, that is not an error. watch: NULL, or looks after the waits, until the share
 * has ended.
 */
hsumma_status hs_device_share_make(struct hs_device_share *share, MPI_Comm mates, const struct hs_watch *watch,
                                   struct hs_device *device, int events, size_t bytes,
                                   const struct hs_allocator *memory, struct hs_message *message);
/*
 * Memory must not be freed while another rank has it mapped: CUDA leaves the behaviour undefined, and a new allocation
 * at the same address may be mistaken for the old one. A share therefore ends in two local steps, with a
 * synchronisation of all ranks between them: hs_device_share_leave unmaps the other ranks' memory (all work on it must
 * be complete), hs_device_share_free frees this rank's own.
 */
void hs_device_share_leave(struct hs_device_share *share);
void hs_device_share_free(struct hs_device_share *share, const struct hs_allocator *memory);
/* Both steps, with a synchronisation between them, after whose failure nothing is freed. Collective over mates. */
void hs_device_share_end(struct hs_device_share *share, MPI_Comm mates, const struct hs_allocator *memory);

static inline struct hs_event *hs_device_share_event(const struct hs_device_share *share, int rank, int i)
{
    return share->event[rank * share->events + i];
}

#endif
