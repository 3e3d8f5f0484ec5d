/* State shared by the files that implement local.h: the device resources, and the product in progress. */
#ifndef HS_SUMMA_LOCAL_DEVICE_STATE_H
#define HS_SUMMA_LOCAL_DEVICE_STATE_H

#include "summa/local/local.h"
#include "summa/local/tiles.h"

/* How an operand reaches the device and returns. */
enum hs_way {
    HS_BY_HAND, /* the host copies the operand through pinned pieces */
    HS_DIRECT,  /* device copies access the operand in place */
    HS_RESIDENT /* the operand is in device memory */
};

/* Device memory for one tile.  An event that was never recorded counts as complete. */
struct hs_tile_slot {
    int64_t tile;           /* number of the tile in the slot; -1 if the slot is empty */
    int64_t used;           /* number of the last planned multiplication that uses the tile */
    char *at;               /* device address */
    struct hs_event *ready; /* recorded after the copy of the tile or, for C, after its last multiplication */
    struct hs_event *free;  /* recorded after the tile's uses so far; awaited before the slot is overwritten */
};

/* A copy in flight: `columns` columns of a tile, from column `from` on. */
struct hs_pinned_piece {
    void *at;               /* pinned memory; unused for direct copies */
    struct hs_event *event; /* recorded after the copy */
    struct hs_job job;
    int64_t from, columns;
};

enum { HS_PINNED_PIECES = 4 };

/* A ring of pieces; those numbered [done, begun) are in flight. */
struct hs_pinned_ring {
    struct hs_pinned_piece piece[HS_PINNED_PIECES];
    int64_t begun, done;
};

/* The tile that the host is copying to the device piece by piece; slot is NULL if there is none. */
struct hs_loading {
    struct hs_tile_slot *slot;
    int operand;
    struct hs_job job;
    int64_t columns; /* number of columns sent so far */
};

/* A tile of C whose last multiplication is enqueued, and which then leaves the device. */
struct hs_complete {
    struct hs_job job;
    struct hs_tile_slot *slot;
};

struct hs_local {
    struct hs_device *device;
    struct hs_stream *const *order;
    struct hs_local_limits limits;
    const struct hs_allocator *memory;
    int off;      /* 1 after the device has failed; it is not used again */
    int reported; /* 1 after hs_local_news has reported the failure */
    struct hs_message note;
    /* Numbers of products so far, for tests.  [0]: left to the BLAS, [1]: done by the device, [2]: given to the device
     * but completed by the BLAS. */
    int64_t counts[3];
    int64_t bytes[2]; /* bytes copied to the device ([0]) and from it ([1]) so far, for tests */

    /* Device resources, made when first needed. */
    struct hs_stream *in, *multiply, *out;
    struct hs_event *begun, *ended;
    void *tile_memory; /* memory of all slots */
    size_t tile_bytes;
    struct hs_tile_slot slot[HS_TILES][HS_TILES_MOST];
    struct hs_pinned_ring coming, leaving;

    /* The product in progress. */
    struct hs_product product;
    hsumma_status status; /* result of starting the product */
    int running, on_device;
    int ending; /* 1 after `ended` has been recorded */
    enum hs_way way[3];
    struct hs_tiling tiling;
    /* The next multiplication to plan.  Tiles of earlier multiplications have slots and are present or in flight. */
    struct hs_walk planned;
    struct hs_walk multiplied; /* the next multiplication to enqueue */
    struct hs_loading loading;
    struct hs_complete queue[HS_TILES_MOST]; /* complete tiles of C in a ring: [left, complete) */
    /* Numbers of tiles of C: the last multiplications of `complete` and the copies of `left` are enqueued; `gone` are
     * written to C. */
    int64_t complete, left, gone;
    /* Numbers of columns of the next tile: the copies of `columns_left` are enqueued, `columns_gone` are written. */
    int64_t columns_left, columns_gone;
};

/* A tile in the caller's memory, with its stored rows and columns.  pitch: leading dimension of its slot. */
struct hs_source_tile {
    char *at;
    int64_t rows, cols, ld, pitch;
};

/* reserve.c: makes streams, events, slots and pieces for the tiling. */
hsumma_status hs_local_reserve(struct hs_local *local);
void hs_local_release(struct hs_local *local);

/* Implemented in move.c: copy tiles to the device (bring) and results to C (take).  Each call does only a
 * small part of the possible work, and sets *worked if it does any. */
hsumma_status hs_local_bring(struct hs_local *local, int *worked);
hsumma_status hs_local_take(struct hs_local *local, int *worked);
struct hs_source_tile hs_local_source_tile(const struct hs_local *local, int x, const struct hs_job *job);
/* The slot that contains a tile of operand x; NULL if none does. */
struct hs_tile_slot *hs_local_find(struct hs_local *local, int x, int64_t tile);

/* Bytes of a pinned piece, enough for at least one column of any tile. */
static inline int64_t hs_local_piece(const struct hs_local *local)
{
    int64_t column = local->limits.edge * (int64_t)sizeof(union hs_value);
    return local->limits.piece > column ? local->limits.piece : column;
}

/* The number of the tile of operand x that multiplication `job` needs. */
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
