/*
 * Messages from and to device memory. They are sent in pieces, cut alike on both sides, each through a buffer in host
 * memory, or directly if MPI accepts device memory. Either way MPI gets the memory only after the work on it is
 * complete.
 */
#ifndef HS_COLL_RUN_BOUNCE_H
#define HS_COLL_RUN_BOUNCE_H

#include "base/device.h"

#include <mpi.h>

/* Pieces in flight each way; the last HS_BOUNCE_URGENT are reserved for steps that others may be waiting for. */
enum { HS_BOUNCE_PIECE_BYTES = 256 * 1024, HS_BOUNCE_PIECES = 16, HS_BOUNCE_URGENT = 4 };

struct hs_instance;
enum hs_bounce_state { HS_BOUNCE_FREE, HS_BOUNCE_ON_STREAM, HS_BOUNCE_POSTED, HS_BOUNCE_DRAINING };

struct hs_bounce_piece {
    enum hs_bounce_state state;
    struct hs_instance *instance;
    int step, rank, tag;
    int64_t turn, bytes;
    char *buffer; /* in host memory; NULL: MPI accepts device memory */
    char *at;     /* in device memory */
    struct hs_event *event;
    MPI_Request request;
};

struct hs_bounce_buffers {
    struct hs_bounce_piece piece[2][HS_BOUNCE_PIECES]; /* for SENDs, for RECVs */
    char *memory;                                      /* pinned; NULL: none */
    int64_t turns;
    int in_use;
};

struct hs_device_comm;
hsumma_status hs_bounce_make(struct hs_bounce_buffers *bounce, struct hs_device *device, int gpu_aware);
/* keep: MPI may still use the buffers. */
void hs_bounce_free(struct hs_bounce_buffers *bounce, struct hs_device *device, int keep);
/* Begins as many more pieces of a SEND or RECV as there are free ones; instance->moved counts their bytes. */
hsumma_status hs_bounce_begin(struct hs_device_comm *on, struct hs_instance *instance, int step, int *worked);
/* Advances the pieces of all instances, and finishes steps whose last piece has arrived. */
hsumma_status hs_bounce_progress(struct hs_device_comm *on, int *worked);

#endif
