/*
 * The memory that the processes of a grid share on their node: a directory, and tiles of products.  Every node of the
 * grid's context has one, of its own ranks; with more of them than one the rest is said by messages.
 */
#ifndef HS_SUMMA_NODE_MEMORY_H
#define HS_SUMMA_NODE_MEMORY_H

#include "coll/node/directory.h"
#include "coll/node/region.h"

/* The last execution in which a rank may use the memory, and the one before. */
struct hs_taken {
    uint64_t before, last;
};

struct hs_product_memory {
    struct hs_directory directory; /* of the ranks of this node; without entries: some node of the context has none */
    const int *mate;               /* of each rank of the context: its number in the directory, -1 on other nodes */
    char *memory;                  /* tiles */
    size_t bytes;                  /* of them, alike on all nodes; 0: there is no memory, and `refused` says why */
    uint64_t executions;           /* of all plans of the grid, counted alike by all its processes */
    struct hs_taken *taken;        /* by each rank of this node */
    struct hs_region *const *regions; /* memory from hsumma_malloc, which all ranks of this node have mapped */
    void *mapped;                     /* directory and tiles ... */
    size_t mapped_bytes;              /* ... here; other nodes may have got less */
    char refused[128];
};

#endif
