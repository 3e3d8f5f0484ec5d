/*
 * The memory that the processes of a grid share on one node: a directory, and tiles for products.  Every node of the
 * grid's context has one for its own ranks; between nodes the processes exchange messages.
 */
#ifndef HS_SUMMA_NODE_MEMORY_H
#define HS_SUMMA_NODE_MEMORY_H

#include "coll/node/directory.h"
#include "coll/node/region.h"

/* The last two executions in which a rank may have used the memory. */
struct hs_taken {
    uint64_t before, last;
};

struct hs_product_memory {
    /* Counters of this node's ranks; no entries if any node of the context has no mapping. */
    struct hs_directory directory;
    const int *mate; /* of each rank of the context: its index in the directory, -1 on other nodes */
    char *memory;    /* tiles */
    /* Bytes of the tiles, the same on all nodes; 0: there is no memory, and `refused` says why. */
    size_t bytes;
    uint64_t executions;              /* of all plans of the grid; the same count on all its processes */
    struct hs_taken *taken;           /* of each rank of this node */
    struct hs_region *const *regions; /* memory of hsumma_malloc, mapped by all ranks of this node */
    void *mapped;                     /* the mapping: directory and tiles */
    size_t mapped_bytes;              /* its size, which may differ between nodes */
    char refused[128];
};

#endif
