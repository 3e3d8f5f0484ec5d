/* What the parts of local.h know in common: what is held of the device, and the product under way. */
#ifndef HS_SUMMA_LOCAL_DEVICE_STATE_H
#define HS_SUMMA_LOCAL_DEVICE_STATE_H

#include "summa/local/local.h"
#include "summa/local/tiles.h"

/* How an operand comes to the device and goes back. */
enum hs_way {
    HS_BY_HAND,  /* through pinned pieces */
    HS_DIRECT,   /* the device's copies reach it */
    HS_RESIDENT, /* it lies there */
    HS_WAYS
};

/* Room for a tile.  An event never recorded is over. */
struct hs_tile_slot {
    int64_t tile;           /* its number; -1: none */
    int64_t used;           /* the last multiplication that it has been planned for */
    char *at;               /* on the device */
    struct hs_event *ready; /* recorded when its tile has come in (C: has been multiplied) */
    struct hs_event *free;  /* recorded when its tile is not needed any more */
};

/* A part of a tile on its way. */
struct hs_pinned_piece {
    char *at;               /* pinned; unused where the copy is direct */
    struct hs_event *event; /* recorded behind the copy */
    struct hs_job job;
    int64_t from, columns;
};

enum { HS_PINNED_PIECES = 4 };

/* Pieces in a ring: [done, begun) are under way. */
struct hs_pinned_ring {
    struct hs_pinned_piece piece[HS_PINNED_PIECES];
    int64_t begun, done;
};

/* A tile that is being brought by hand; slot NULL: none. */
struct hs_loading {
    struct hs_tile_slot *slot;
    int operand;
    struct hs_job job;
    int64_t columns; /* that are on their way */
};

/* A tile of C that has been multiplied: it leaves, column by column. */
struct hs_complete {
    struct hs_job job;
    struct hs_tile_slot *slot;
};

struct hs_local {
    struct hs_device *device;
    struct hs_stream *const *order;
    struct hs_local_limits limits;
    const struct hs_allocator *memory;
    int off;      /* the device has failed */
    int reported; /* and somebody knows */
    struct hs_message note;
    int64_t counts[3], bytes[2];

    /* of the device; made when first needed */
    struct hs_stream *in, *multiply, *out;
    struct hs_event *begun, *ended;
    char *tile_memory; /* for slots */
    size_t tile_bytes;
    struct hs_tile_slot slot[HS_TILES][HS_TILES_MOST];
    struct hs_pinned_ring coming, leaving;

    /* the product */
    struct hs_product product;
    hsumma_status status; /* of its beginning */
    int running, on_device;
    int ending; /* "ended" has been recorded */
    enum hs_way way[3];
    struct hs_tiling tiling;
    struct hs_walk planned;    /* next to be planned: tiles of all before have slots, and are here or on their way */
    struct hs_walk multiplied; /* next to be multiplied */
    struct hs_loading loading;
    struct hs_complete queue[HS_TILES_MOST]; /* tiles of C that are complete: [left, complete) */
    int64_t complete, left, gone;            /* and [0, gone) are in C */
    int64_t columns_left, columns_gone;      /* of the next ones */
};

/* A tile of an operand in the caller's memory: its stored rows and columns; `pitch`: leading dimension of its slot. */
struct hs_source_tile {
    char *at;
    int64_t rows, cols, ld, pitch;
};

/* reserve.c: streams, events, slots and pieces for the tiling at hand. */
hsumma_status hs_local_reserve(struct hs_local *local);
void hs_local_release(struct hs_local *local);

/* move.c: into the device, out of it; each does a piece of work and sets *worked, if it can do anything. */
hsumma_status hs_local_bring(struct hs_local *local, int *worked);
hsumma_status hs_local_take(struct hs_local *local, int *worked);
struct hs_source_tile hs_local_source_tile(const struct hs_local *local, int x, const struct hs_job *job);
/* The slot of a tile that has been planned; NULL: it has none. */
struct hs_tile_slot *hs_local_find(struct hs_local *local, int x, int64_t tile);

/* Bytes of a pinned piece: at least a column of any tile. */
static inline int64_t hs_local_piece(const struct hs_local *local)
{
    int64_t column = local->limits.edge * (int64_t)sizeof(union hs_value);
    return local->limits.piece > column ? local->limits.piece : column;
}

/* Which tile of operand x a multiplication needs. */
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
