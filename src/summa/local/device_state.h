/* State that the parts of local.h share: the device resources held, and the product in progress. */
#ifndef HS_SUMMA_LOCAL_DEVICE_STATE_H
#define HS_SUMMA_LOCAL_DEVICE_STATE_H

#include "summa/local/local.h"
#include "summa/local/tiles.h"

/* How an operand reaches the device and returns. */
enum hs_way {
    HS_BY_HAND,  /* the host copies it through pinned pieces */
    HS_DIRECT,   /* device copies access it in place */
    HS_RESIDENT, /* it is in the device's memory */
    HS_WAYS
};

/* Room for one tile on the device.  An event that was never recorded is complete. */
struct hs_tile_slot {
    int64_t tile;           /* the number of the tile it holds; -1: none */
    int64_t used;           /* the last multiplication planned to use it */
    char *at;               /* on the device */
    struct hs_event *ready; /* recorded when its tile has arrived (C: has been multiplied) */
    struct hs_event *free;  /* recorded when its tile is no longer needed */
};

/* A part of a tile in flight. */
struct hs_pinned_piece {
    char *at;               /* pinned memory; unused for direct copies */
    struct hs_event *event; /* recorded after the copy */
    struct hs_job job;
    int64_t from, columns;
};

enum { HS_PINNED_PIECES = 4 };

/* A ring of pieces: [done, begun) are in flight. */
struct hs_pinned_ring {
    struct hs_pinned_piece piece[HS_PINNED_PIECES];
    int64_t begun, done;
};

/* A tile that the host is copying to the device piece by piece; slot NULL: none. */
struct hs_loading {
    struct hs_tile_slot *slot;
    int operand;
    struct hs_job job;
    int64_t columns; /* columns sent so far */
};

/* A multiplied tile of C that leaves the device, column by column. */
struct hs_complete {
    struct hs_job job;
    struct hs_tile_slot *slot;
};

struct hs_local {
    struct hs_device *device;
    struct hs_stream *const *order;
    struct hs_local_limits limits;
    const struct hs_allocator *memory;
    int off;      /* the device has failed, and is not used again */
    int reported; /* hs_local_news has reported it */
    struct hs_message note;
    int64_t counts[3], bytes[2];

    /* Device resources, made when first needed. */
    struct hs_stream *in, *multiply, *out;
    struct hs_event *begun, *ended;
    char *tile_memory; /* memory of all slots */
    size_t tile_bytes;
    struct hs_tile_slot slot[HS_TILES][HS_TILES_MOST];
    struct hs_pinned_ring coming, leaving;

    /* The product in progress. */
    struct hs_product product;
    hsumma_status status; /* result of starting it */
    int running, on_device;
    int ending; /* `ended` has been recorded */
    enum hs_way way[3];
    struct hs_tiling tiling;
    /* The next to plan: the tiles of earlier ones have slots, and are present or in flight. */
    struct hs_walk planned;
    struct hs_walk multiplied; /* the next to multiply */
    struct hs_loading loading;
    struct hs_complete queue[HS_TILES_MOST]; /* complete tiles of C in a ring: [left, complete) */
    int64_t complete, left, gone;            /* numbers of tiles of C: complete, enqueued to leave, written to C */
    int64_t columns_left, columns_gone;      /* columns of the next tile: enqueued to leave, written to C */
};

/* A tile in the caller's memory: its stored rows and columns; pitch: the leading dimension of its slot. */
struct hs_source_tile {
    char *at;
    int64_t rows, cols, ld, pitch;
};

/* reserve.c: makes streams, events, slots and pieces for the tiling. */
hsumma_status hs_local_reserve(struct hs_local *local);
void hs_local_release(struct hs_local *local);

/* move.c: bring tiles into the device, take results out.  Each does one piece of work if it can, and then sets
 * *worked. */
hsumma_status hs_local_bring(struct hs_local *local, int *worked);
hsumma_status hs_local_take(struct hs_local *local, int *worked);
struct hs_source_tile hs_local_source_tile(const struct hs_local *local, int x, const struct hs_job *job);
/* The slot that holds a tile; NULL if none does. */
struct hs_tile_slot *hs_local_find(struct hs_local *local, int x, int64_t tile);

/* Bytes of a pinned piece: room for at least one column of any tile. */
static inline int64_t hs_local_piece(const struct hs_local *local)
{
    int64_t column = local->limits.edge * (int64_t)sizeof(union hs_value);
    return local->limits.piece > column ? local->limits.piece : column;
}

/* The number of the tile of operand x that a multiplication needs. */
static inline int64_t hs_local_tile(const struct hs_local *local, int x, const struct hs_job *job)
{
    const struct hs_tiling *tiling = &local->tiling;
    switch (x) {
    case HS_TILES_A:
        return job->i * tiling->count[2] + job->l;
    case HS_TILES_B:
        return job->j * tiling->count[2] + job->l;
    default:
        return job->i * tiling->count[1] + job->j;
    }
}

#endif
