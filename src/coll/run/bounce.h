/*
 * Messages from and to device memory.  They go in pieces, alike on both sides, each through a buffer in host memory, or
 * straight if MPI takes device memory; either way MPI gets memory only when the work on it is over.
 */
#ifndef HS_COLL_RUN_BOUNCE_H
#define HS_COLL_RUN_BOUNCE_H

#include "base/device.h"

#include <mpi.h>

/* Pieces are under way each way at a time; the last ones only of steps that others may be waiting for. */
enum { HS_BOUNCE_PIECE_BYTES = 256 * 1024, HS_BOUNCE_PIECES = 16, HS_BOUNCE_URGENT = 4 };

struct hs_instance;
enum hs_bounce_state { HS_BOUNCE_FREE, HS_BOUNCE_ON_STREAM, HS_BOUNCE_POSTED, HS_BOUNCE_DRAINING };

struct hs_bounce_piece {
    enum hs_bounce_state state;
    struct hs_instance *instance;
    int step, rank, tag;
    int64_t turn, bytes;
    char *buffer; /* in host memory; NULL: MPI takes device memory */
    char *at;     /* in the device's */
    struct hs_event *event;
    MPI_Request request;
};

struct hs_bounce_buffers {
    struct hs_bounce_piece piece[2][HS_BOUNCE_PIECES]; /* of SENDs, of RECVs */
    char *memory;                                      /* pinned; NULL: none */
    int64_t turns;
    int in_use;
};

struct hs_device_comm;
hsumma_status hs_bounce_make(struct hs_bounce_buffers *bounce, struct hs_device *device, int gpu_aware);
/* keep: MPI may still use the buffers. */
void hs_bounce_free(struct hs_bounce_buffers *bounce, struct hs_device *device, int keep);
/* Begins as many further pieces of a SEND or RECV as there is room for; instance->moved counts them. */
hsumma_status hs_bounce_begin(struct hs_device_comm *on, struct hs_instance *instance, int step, int *worked);
/* Moves all pieces, of whatever instance; steps whose last piece is there are finished. */
hsumma_status hs_bounce_progress(struct hs_device_comm *on, int *worked);

#endif
