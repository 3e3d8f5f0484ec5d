/* Shared memory for the products of a grid, and device memory for their tiles. */
#ifndef HS_HSUMMA_CONTEXT_PRODUCT_MEMORY_H
#define HS_HSUMMA_CONTEXT_PRODUCT_MEMORY_H

#include "base/status.h"
#include "summa/node_memory.h"

struct hsumma_context;
struct hs_node_device;

/* The most bytes for the tiles of one grid on this node: a quarter of the node's memory, within fixed bounds.  Local.
 */
int64_t hs_product_memory_limit(void);

/*
 * Makes one mapping on each node; its pages are allocated when first written.  Collective over the context, with the
 * same status on all processes.  That a node cannot share memory is not an error (hs_product_memory.refused).  After
 * HSUMMA_ERR_MEMORY or HSUMMA_ERR_MPI nothing stays allocated.  Calls hs_device_tiles_free if
 * all processes have left the same tiles.
 */
hsumma_status hs_product_memory_make(struct hsumma_context *ctx, struct hs_product_memory *shared);
/* Frees this process's mapping, unless messages may still arrive in it.  Local; other processes keep their mappings. */
void hs_product_memory_free(struct hsumma_context *ctx, struct hs_product_memory *shared);

/*
 * Ensures that *tiles, the device memory for the products of a grid, has at least `bytes`, in the memory of process
 * `owner`.  Collective over the context, with the same status on all processes.  Errors: HSUMMA_ERR_DEVICE if a device
 * fails or devices cannot share memory, HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_device_tiles_grow(struct hsumma_context *ctx, struct hs_node_device **tiles, int owner, size_t bytes);
/*
 * Tiles are freed in two steps, because other processes may have them mapped.  hs_device_tiles_leave waits for this
 * process's work on the tiles of grid `number`, and unmaps tiles in other processes' memory.  hs_device_tiles_free
 * frees the tiles of all grids for which hs_device_tiles_leave was called.  An agreement on a hash of these grids, or a
 * barrier, must first ensure that all processes have called hs_device_tiles_leave for the same grids.  In a broken
 * context hs_device_tiles_leave does nothing.
 */
void hs_device_tiles_leave(struct hsumma_context *ctx, struct hs_node_device **tiles, int number);
void hs_device_tiles_free(struct hsumma_context *ctx);

#endif
