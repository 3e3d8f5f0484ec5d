/* Shared memory for the products of a grid, and device memory for their tiles. */
#ifndef HS_HSUMMA_CONTEXT_PRODUCT_MEMORY_H
#define HS_HSUMMA_CONTEXT_PRODUCT_MEMORY_H

#include "base/status.h"
#include "summa/node_memory.h"

struct hsumma_context;
struct hs_node_device;

/* Settles how much a grid of the context may take on each node, if it can be had.  Collective; HSUMMA_ERR_MPI. */
hsumma_status hs_product_memory_limit(struct hsumma_context *ctx);

/*
 * One mapping on each node, most of it holes: memory comes as it is written.  Collective over the context, and the same
 * status on all; that a node cannot share memory is no error (hs_product_memory).  HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI;
 * nothing is kept then.
 */
hsumma_status hs_product_memory_make(struct hsumma_context *ctx, struct hs_product_memory *shared);
/* Local: other processes keep what they have mapped. */
void hs_product_memory_free(struct hsumma_context *ctx, struct hs_product_memory *shared);

/*
 * Tiles in device memory for the products of a grid, *tiles: at least `bytes`, in the memory of process `owner`.
 * Collective over the context, and the same status on all: HSUMMA_ERR_DEVICE where devices cannot share memory,
 * HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_device_tiles_grow(struct hsumma_context *ctx, struct hs_node_device **tiles, int owner, size_t bytes);
/*
 * The end in two steps, for other processes may have them mapped.  leave: waits for this process's work with the tiles
 * of the grid of this number, and unmaps what is others'.  free: of all grids that have been left, which must be the
 * same on all processes, as a hash says, or with a meeting between.
 */
void hs_device_tiles_leave(struct hsumma_context *ctx, struct hs_node_device **tiles, int number);
void hs_device_tiles_free(struct hsumma_context *ctx);

#endif
