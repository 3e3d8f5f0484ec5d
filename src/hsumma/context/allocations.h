/* What hsumma_malloc has given: memory that every process of a node has mapped, where that can be had. */
#ifndef HS_HSUMMA_CONTEXT_ALLOCATIONS_H
#define HS_HSUMMA_CONTEXT_ALLOCATIONS_H

#include "base/memory.h"
#include "base/status.h"
#include "coll/node/region.h"
#include "coll/run/agree.h"
#include "coll/run/device_comm.h"

struct hs_allocation {
    struct hs_allocation *next;
    struct hs_region region;      /* as others and this process find it ... */
    struct hs_region **list;      /* ... here; NULL: it is of this process alone */
    char *mine;                   /* the part given to this process's caller */
    size_t mine_bytes;            /* as asked for */
    char *base;                   /* this process's mapping of all parts; NULL: plain memory, or a device's */
    size_t bytes;                 /* of the mapping: all parts; of plain memory this process's */
    struct hs_device_share share; /* of device memory: where the node's others have theirs; else without a device */
    struct hs_device *device;     /* whose memory it is, if nobody shares it; else NULL */
    char *part[];                 /* each mate's in the mapping, on a page of its own */
};

/* An allocation stays where it is until it is freed. */
struct hs_allocations {
    struct hs_allocation *first; /* the latest */
    struct hs_allocation *left;  /* of devices: freed by the caller, and kept until nobody has them mapped */
    struct hs_region *shared;    /* those in the host's memory that all mates have mapped */
    int64_t made;
};

/*
 * Collective over the agreement's processes, and the same status on all; after an error nothing is kept and *given is
 * NULL.  Mates have each other's parts mapped; where they cannot share memory they get plain memory.  Errors:
 * HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_allocate(struct hs_allocations *all, struct hs_agreement *agreement, size_t bytes,
                          const struct hs_allocator *memory, void **given, struct hs_message *message);
/*
 * The same in a device's memory, which all mates then have mapped if the devices allow it.  Collective over the
 * agreement's processes; HSUMMA_ERR_DEVICE besides.
 */
hsumma_status hs_allocate_on_device(struct hs_allocations *all, struct hs_agreement *agreement,
                                    struct hs_device *device, size_t bytes, const struct hs_allocator *memory,
                                    void **given, struct hs_message *message);
/*
 * Local; returns 0 if `given` is none of them.  Of device memory, all work that touches it must be over; others may
 * still have it mapped, so it is kept until the next call that all come to: all have then freed what was freed before.
 */
int hs_allocation_free(struct hs_allocations *all, const void *given, const struct hs_allocator *memory);
/* Of devices: unmaps what is the others' (hs_device_share_leave); before hs_allocations_free, with a meeting between.
 */
void hs_allocations_leave(struct hs_allocations *all);
void hs_allocations_free(struct hs_allocations *all, const struct hs_allocator *memory);

#endif
