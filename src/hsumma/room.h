/* Shared memory for the products of a context whose processes are all on one node. */
#ifndef HS_HSUMMA_ROOM_H
#define HS_HSUMMA_ROOM_H

#include "summa/node.h"

#include <mpi.h>

struct hsumma_context;
struct hsumma_grid;

/*
 * One mapping, most of it holes: memory comes as it is written.  Each of the context's first grids has a part of its
 * own, a directory and panel buffers, so that products on different grids never meet.
 */
enum { HS_ROOMS = 4 };
struct hs_rooms {
    char *base; /* NULL: none */
    size_t bytes, pitch;
    int readable; /* processes may read each other's memory by system calls; found out only for node=read */
    int grids;    /* that the context has made so far, alike on all processes */
};

/* Collective over the context, and the same on all processes: without shared memory products send messages. */
void hs_rooms_make(struct hsumma_context *ctx);
void hs_rooms_free(struct hs_rooms *rooms);

/* The part of the context's grid of this number, if there is one for it. */
hsumma_status hs_room_take(struct hsumma_context *ctx, int number, struct hs_node_room *room);
void hs_room_leave(struct hsumma_context *ctx, struct hs_node_room *room);

#endif
