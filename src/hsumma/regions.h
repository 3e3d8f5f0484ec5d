/*
 * What hsumma_malloc has given: pieces of memory that every process of a one-node context has mapped.  Regions are
 * numbered alike on all processes, so (number, offset) means the same place everywhere.
 */
#ifndef HS_HSUMMA_REGIONS_H
#define HS_HSUMMA_REGIONS_H

#include "base/memory.h"
#include "base/status.h"

#include <mpi.h>

struct hs_region {
    int64_t number; /* counts up over the context's life, alike on all processes; never reused */
    char *base;     /* this process's mapping of all parts; NULL: plain memory, of this process alone */
    size_t bytes;   /* of all parts */
    char *mine;     /* the part given to this process's caller */
    size_t mine_bytes;
    size_t *part; /* where each rank's part begins; part[ranks] is the end; NULL for plain memory */
};

struct hs_regions {
    struct hs_region *region;
    size_t count, capacity;
    int64_t made;
};

/* Collective over comm; shared: all its processes are on one node.  The same status on all. */
hsumma_status hs_region_make(struct hs_regions *regions, MPI_Comm comm, int shared, size_t bytes,
                             const struct hs_allocator *memory, void **given);
/* Local; returns 0 if `given` is none of them. */
int hs_region_free(struct hs_regions *regions, void *given, const struct hs_allocator *memory);
void hs_regions_free(struct hs_regions *regions, const struct hs_allocator *memory);

/* The shared region that holds all of [at, at + bytes) of this process's part, and the offset of `at` in that part;
 * NULL if there is none. */
const struct hs_region *hs_region_of(const struct hs_regions *regions, const void *at, size_t bytes, size_t *offset);
/* The address here of an offset in a rank's part of region `number`; NULL if there is no such region (any more). */
const char *hs_region_at(const struct hs_regions *regions, int64_t number, int rank, size_t offset);

#endif
