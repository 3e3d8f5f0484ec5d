/* Memory allocated by hsumma_malloc, which all processes of a node map if the system allows it. */
#ifndef HS_HSUMMA_CONTEXT_ALLOCATIONS_H
#define HS_HSUMMA_CONTEXT_ALLOCATIONS_H

#include "coll/node/region.h"
#include "coll/run/device_comm.h"

struct hsumma_context;

struct hs_allocation {
    struct hs_allocation *next;
    struct hs_region region;      /* the region through which this process and its mates find the memory */
    struct hs_region **list;      /* the list that contains `region`; NULL if the memory is private to this process */
    char *mine;                   /* the part returned to this process's caller */
    size_t mine_bytes;            /* bytes of `mine` as requested */
    char *base;                   /* this process's mapping of all parts; NULL for private and device memory */
    size_t bytes;                 /* bytes mapped: of all parts, or of private memory; 0 for device memory */
    struct hs_device_share share; /* device memory shared with the mates; its `device` is NULL if there is none */
    struct hs_device *device;     /* the device of unshared device memory; otherwise NULL */
    char *part[];                 /* each mate's part of the mapping, on pages of its own */
};

/* The allocations of a context.  An hs_allocation is never moved, because lists point to its region. */
struct hs_allocations {
    struct hs_allocation *first; /* most recent first */
    struct hs_allocation *left;  /* device memory freed by the caller, but possibly still mapped by mates */
    struct hs_region *shared;    /* regions in host memory that all mates have mapped */
    int64_t made;
};

/*
 * Allocates `bytes` on this process and maps the parts of its mates; without shared memory it allocates private memory.
 * Collective over the context, with the same status on all processes.  After an error nothing stays allocated, and
 * *given is unchanged.  HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_allocate(struct hsumma_context *ctx, size_t bytes, void **given);
/* Like hs_allocate, in the device's memory, which all mates map if the devices allow it.  A further error is
 * HSUMMA_ERR_DEVICE. */
hsumma_status hs_allocate_on_device(struct hsumma_context *ctx, size_t bytes, void **given);
/*
 * Frees an allocation.  Local.  Returns 0 if `given` is not an allocation.  For device memory, all work that uses it
 * must be complete.  Mates may still have it mapped, so it is released only by hs_allocations_free or by the next
 * hs_allocate_on_device, before which every process must have freed its own part.
 */
int hs_allocation_free(struct hs_allocations *all, const void *given, const struct hs_allocator *memory);
/* Unmaps the mates' device memory (hs_device_share_leave).  hs_allocations_free may be called once all processes have
 * called this function. */
void hs_allocations_leave(struct hs_allocations *all);
void hs_allocations_free(struct hs_allocations *all, const struct hs_allocator *memory);

#endif
