/*
 * Regions: memory of which each process of a node owns a part and every process has mapped all parts, at different
 * addresses. A region has the same number in all processes, so (number, rank, offset) is valid in each and addresses
 * are never exchanged. The functions below are local, and neither allocate nor free memory.
 */
#ifndef HS_COLL_NODE_REGION_H
#define HS_COLL_NODE_REGION_H

#include <stddef.h>
#include <stdint.h>

/* HS_REGION_POOL: the pool of a communicator's devices (device_comm.h). */
enum { HS_REGION_NONE = -1, HS_REGION_POOL, HS_REGION_FIRST };

struct hs_region {
    struct hs_region *next;
    int64_t number;    /* never reused */
    char *const *part; /* address in this process of each rank's part, indexed by rank */
    int me;
    size_t bytes; /* bytes of this rank's part */
};

/* Adds a region, which must not move while it is in the list. */
void hs_region_add(struct hs_region **list, struct hs_region *region);
/* Removes a region; does nothing if it is not in the list. */
void hs_region_remove(struct hs_region **list, const struct hs_region *region);
/* The region in which this rank's part contains [at, at + bytes), and the offset of `at` in the part; NULL if none. */
const struct hs_region *hs_region_of(const struct hs_region *list, const void *at, size_t bytes, size_t *offset);
/* The address in this process of an offset in a rank's part; NULL if no region has this number. */
char *hs_region_at(const struct hs_region *list, int64_t number, int rank, size_t offset);

#endif
