/*
 * Messages from and to device memory. They are sent in pieces, cut alike on both sides, each through a buffer in host
 * memory, or directly if MPI accepts device memory. In both cases memory is passed to MPI only after the device's work
 * on it is complete.
 */
#ifndef HS_COLL_RUN_BOUNCE_H
#define HS_COLL_RUN_BOUNCE_H

#include "base/device.h"

#include <mpi.h>

/* Pieces in flight in each direction; the last HS_BOUNCE_URGENT free ones are for steps that peers may wait for. */
enum { HS_BOUNCE_PIECE_BYTES = 256 * 1024, HS_BOUNCE_PIECES = 16, HS_BOUNCE_URGENT = 4 };

struct hs_instance;
/* ON_STREAM: waits for the device's work on the data. POSTED: passed to MPI. DRAINING: is copied to device memory. */
enum hs_bounce_state { HS_BOUNCE_FREE, HS_BOUNCE_ON_STREAM, HS_BOUNCE_POSTED, HS_BOUNCE_DRAINING };

struct hs_bounce_piece {
    enum hs_bounce_state state;
    struct hs_instance *instance;
    int step, rank, tag;
    int64_t turn, bytes; /* turn: number of the piece, in the order in which pieces are begun */
    char *buffer;        /* buffer in host memory; NULL if MPI accepts device memory */
    char *at;            /* the piece in device memory */
    struct hs_event *event;
    MPI_Request request;
};

struct hs_bounce_buffers {
    struct hs_bounce_piece piece[2][HS_BOUNCE_PIECES]; /* [0] for SENDs, [1] for RECVs */
    char *memory; /* pinned memory of all buffers; NULL if MPI accepts device memory */
    int64_t turns;
    int in_use;
};

struct hs_device_comm;
/* Allocates events and, unless MPI accepts device memory (gpu_aware), buffers. Call hs_bounce_free in any case. */
hsumma_status hs_bounce_make(struct hs_bounce_buffers *bounce, struct hs_device *device, int gpu_aware);
/* Frees the buffers. keep: true if MPI may still use them; nothing is freed then. */
void hs_bounce_free(struct hs_bounce_buffers *bounce, struct hs_device *device, int keep);
/* Begins the next pieces of a SEND or RECV, as many as it can get, and adds their bytes to instance->moved[step]. */
hsumma_status hs_bounce_begin(struct hs_device_comm *on, struct hs_instance *instance, int step, int *worked);
/* Advances the pieces of all instances, and finishes steps whose last piece MPI has completed. */
hsumma_status hs_bounce_progress(struct hs_device_comm *on, int *worked);

#endif
