/*
 * Regions: memory of which each process of a node owns a part and all have mapped every part, at different addresses.
 * Regions have the same numbers on all of them, so (number, rank, offset) is valid everywhere and addresses are never
 * exchanged. A region's memory belongs to the owner of the list; lookups are local.
 */
#ifndef HS_COLL_NODE_REGION_H
#define HS_COLL_NODE_REGION_H

#include <stddef.h>
#include <stdint.h>

enum {
    HS_REGION_NONE = -1,
    HS_REGION_POOL = 0,
    HS_REGION_FIRST
}; /* POOL: the pool of a communicator's devices (device_comm.h) */

struct hs_region {
    struct hs_region *next;
    int64_t number;    /* never reused */
    char *const *part; /* each rank's, as mapped here */
    int me;
    size_t bytes; /* of this rank's part */
};

/* A region must not move while it is in a list. */
void hs_region_add(struct hs_region **list, struct hs_region *region);
/* Removing a region that is not in the list does nothing. */
void hs_region_remove(struct hs_region **list, const struct hs_region *region);
/* The region whose part of this rank contains [at, at + bytes), and the offset of `at` in it; NULL: none. */
const struct hs_region *hs_region_of(const struct hs_region *list, const void *at, size_t bytes, size_t *offset);
/* The local address of an offset in a rank's part; NULL if the region does not exist (any more). */
char *hs_region_at(const struct hs_region *list, int64_t number, int rank, size_t offset);

#endif
