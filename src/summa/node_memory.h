/*
 * The memory that the processes of a grid share on one node: a directory, and tiles for products.  Each node of the
 * grid's context has its own, for its own ranks; between nodes the processes exchange messages.
 */
#ifndef HS_SUMMA_NODE_MEMORY_H
#define HS_SUMMA_NODE_MEMORY_H

#include "coll/node/comm.h"
#include "coll/node/directory.h"
#include "coll/node/region.h"

/* The last two executions in which a rank may have used the memory. */
struct hs_taken {
    uint64_t before, last;
};

struct hs_product_memory {
    /* Counters of this node's ranks.  Empty if any node of the context has no mapping. */
    struct hs_directory directory;
    const struct hs_mates *mates; /* the ranks of this node; a mate has its index in the directory */
    char *memory;                 /* the tiles */
    /* Bytes of the tiles, equal on all nodes.  Zero if there is no memory; `refused` then gives the reason. */
    size_t bytes;
    uint64_t executions; /* number of executions, or spans of trials, that shared this memory; equal on all the grid's
                            processes */
    struct hs_taken *taken;           /* indexed like the directory, by the ranks of this node */
    struct hs_region *const *regions; /* memory of hsumma_malloc, mapped by all ranks of this node */
    void *mapped;                     /* the mapping, which contains the directory and the tiles */
    size_t mapped_bytes;              /* size of the mapping, which may differ between nodes */
    char refused[128];
};

#endif
