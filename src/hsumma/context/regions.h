/*
 * What hsumma_malloc has given: pieces of memory that every process of a one-node context has mapped.  Regions are
 * numbered alike on all processes, so (number, rank, offset) means the same place everywhere.
 */
#ifndef HS_HSUMMA_CONTEXT_REGIONS_H
#define HS_HSUMMA_CONTEXT_REGIONS_H

#include "base/memory.h"
#include "base/status.h"
#include "coll/run/agree.h"
#include "coll/run/device_comm.h"

struct hs_region {
    struct hs_region *next;
    int64_t number;                 /* counts up over the context's life, alike on all processes; never reused */
    char *base;                     /* this process's mapping of all parts; NULL: plain memory, of this process alone */
    size_t bytes;                   /* of the mapping: all parts; of plain memory this process's */
    char *mine;                     /* the part given to this process's caller */
    size_t mine_bytes;              /* as asked for */
    struct hs_device_share share;   /* of device memory: where the node's others have theirs; else without a device */
    struct hs_device *device;       /* whose memory it is, if nobody shares it; else NULL */
    struct hs_device_region shared; /* of device memory: as collective calls know it */
    struct hs_device_comm *on;      /* where they do; NULL: nowhere */
    size_t part[]; /* where each rank's part begins, on a page of its own, and the end; not of plain memory */
};

/* A region stays where it is until it is freed. */
struct hs_regions {
    struct hs_region *first; /* the latest */
    struct hs_region *left;  /* of devices: freed by the caller, and kept until nobody has them mapped */
    int64_t made;
};

/*
 * Collective over the agreement's processes, and the same status on all; after an error nothing is kept and *given is
 * NULL.  shared: all its processes are on one node.  Where they cannot share memory they get plain memory.  Errors:
 * HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_region_make(struct hs_regions *regions, struct hs_agreement *agreement, int shared, size_t bytes,
                             const struct hs_allocator *memory, void **given, struct hs_message *message);
/*
 * The same in a device's memory, which every process of a node then has mapped if the devices allow it.  mates: the
 * processes of the node.  Collective over the agreement's processes; HSUMMA_ERR_DEVICE besides.
 */
hsumma_status hs_region_make_on_device(struct hs_regions *regions, struct hs_agreement *agreement, MPI_Comm mates,
                                       struct hs_device *device, size_t bytes, const struct hs_allocator *memory,
                                       void **given, struct hs_message *message);
/*
 * Local; returns 0 if `given` is none of them.  Of device memory, all work that touches it must be over; others may
 * still have it mapped, so it is kept until the next call that all come to: all have then freed what was freed before.
 */
int hs_region_free(struct hs_regions *regions, const void *given, const struct hs_allocator *memory);
/* Of devices: unmaps what is the others' (hs_device_share_leave); before hs_regions_free, with a meeting between. */
void hs_regions_leave(struct hs_regions *regions);
void hs_regions_free(struct hs_regions *regions, const struct hs_allocator *memory);

/* The shared region that holds all of [at, at + bytes) of this process's part, and the offset of `at` in that part;
 * NULL if there is none. */
const struct hs_region *hs_region_of(const struct hs_regions *regions, const void *at, size_t bytes, size_t *offset);
/* The address here of an offset in a rank's part of region `number`; NULL if there is no such region (any more). */
const char *hs_region_at(const struct hs_regions *regions, int64_t number, int rank, size_t offset);

#endif
