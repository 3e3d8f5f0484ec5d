/* Shared memory for the products of a context whose processes are all on one node. */
#ifndef HS_HSUMMA_CONTEXT_PRODUCT_MEMORY_H
#define HS_HSUMMA_CONTEXT_PRODUCT_MEMORY_H

#include "summa/node/node.h"
#include "summa/node/on_device.h"

#include <mpi.h>

struct hsumma_context;
struct hsumma_grid;

/*
 * One mapping, most of it holes: memory comes as it is written.  Each of the context's first grids has a part of its
 * own, a directory and panel buffers, so that products on different grids never meet.
 */
enum { HS_POOL_GRIDS = 4 };
struct hs_product_pool {
    char *base; /* NULL: none */
    size_t bytes, pitch;
    int grids;                                       /* that the context has made so far, alike on all processes */
    struct hs_node_device *on_device[HS_POOL_GRIDS]; /* tiles for the products of each on devices; NULL: none so far */
    struct hs_message refused; /* why devices cannot share memory, once that is known; "": it is not */
};

/* Collective over the context, and the same on all processes: without shared memory products send messages. */
void hs_product_pool_make(struct hsumma_context *ctx);
void hs_product_pool_free(struct hsumma_context *ctx);

/* The part of the context's grid of this number, if there is one for it. */
hsumma_status hs_product_memory_take(struct hsumma_context *ctx, int number, struct hs_product_memory *shared);
void hs_product_memory_leave(struct hsumma_context *ctx, struct hs_product_memory *shared);

/*
 * Tiles in device memory for the products of the context's grid of this number: at least `bytes`, in the memory of
 * process `owner`.  Collective over the context, and the same status on all: HSUMMA_ERR_DEVICE where devices cannot
 * share memory, HSUMMA_ERR_MEMORY, HSUMMA_ERR_MPI.
 */
hsumma_status hs_device_tiles_grow(struct hsumma_context *ctx, int number, int owner, size_t bytes);
/* Waits for this process's work on devices and unmaps tiles of others'; before hs_product_pool_free, with a meeting
 * between.
 */
void hs_product_pool_leave(struct hsumma_context *ctx);
void hs_product_pool_free_on_device(struct hsumma_context *ctx); /* hs_product_pool_free does */

#endif
