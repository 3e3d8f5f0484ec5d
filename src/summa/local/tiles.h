/*
 * How a local product is cut for a device whose memory may be smaller than the matrices, and in which order the tiles
 * are multiplied: arithmetic alone.
 *
 * C is cut into tiles, these are taken in blocks, as large as memory allows, block after block in serpentines.  While a
 * block is worked at, its tiles of C stay on the device.  Its product has two parts:
 *   1. all but the last panels of k, one after the other, each for all tiles of the block: so little has to be there
 *      before the first multiplication, and each tile of A and B that comes serves a whole row or column of the block;
 *   2. the last panels ("finish"), tile of C after tile of C: each leaves for the host while the next ones are being
 *      multiplied, so that little is left to be done after the last multiplication.
 * Every second block takes the panels of k the other way round and begins with those that the one before has ended
 * with, so that what there is room for of the strip that they share stays.  Each tile of C sees all panels of k in one
 * order, which depends on the sizes alone; so do the bits of the result, unless memory is so short that tiles shrink.
 *
 * The model: C leaves once and, where beta is not 0, enters once; A enters once per column of blocks, B once per row:
 *     bytes in = size (m k J + k n I + (beta ? m n : 0)),  bytes out = size m n     for I x J blocks,
 *     seconds = first panel + max(flops / device, bytes in / link, bytes out / link) + last tile.
 *
 * n = 16384 (m and k likewise) on an H200 with 50 GB/s each way at the same time, 60 TFLOP/s: everything fits, one
 * block of 4 x 4 tiles of 4096 x 4096, 8 panels of 2048.  Multiplication: 147 ms in both types.
 *     double: in 4.3 GB, 86 ms (beta = 0) or 6.4 GB, 129 ms; out 2.1 GB, 43 ms: the floor is 147 ms.  Before the first
 *             multiplication two tiles of 67 MB come in, 2.7 ms; in the first sweep five more tiles take 0.2 ms each
 *             more to come than the multiplication that they wait for; after the last one a tile of 134 MB leaves,
 *             2.7 ms: 154 ms, 4 % above the floor.  Part 2 takes 3.4 ms for a tile, its way out 2.7.
 *     float:  half of all bytes: in 43 or 64 ms, out 21 ms, the floor is 147 ms; 1.3 ms before, 1.3 ms behind: 150 ms.
 * From pageable memory all goes through the hands of one thread, at some 10 GB/s in and out together: 6.4 GB in double
 * take 0.65 s, in float 0.33 s, which is then the floor.
 */
#ifndef HS_SUMMA_LOCAL_TILES_H
#define HS_SUMMA_LOCAL_TILES_H

#include "base/scalar.h"

enum { HS_TILES_A, HS_TILES_B, HS_TILES_C, HS_TILES_ADD, HS_TILES };
enum { HS_TILES_MOST = 256 }; /* slots of an operand */

struct hs_tiling_wish {
    int64_t extent[3];   /* m, n, k: all at least 1 */
    size_t size;         /* of an element */
    int needs[HS_TILES]; /* which need slots on the device: A, B, C, and C as it was before */
    int64_t edge;        /* of tiles of C at most; of panels of k half of it */
    int64_t deep;        /* indices of k that take as long to multiply as a tile of C takes to leave */
    int64_t bytes;       /* of slots at most */
};

struct hs_tiling {
    int64_t extent[3], edge[3], count[3]; /* of m, n, k: all, of a tile, tiles */
    int64_t block[2];                     /* tiles of a block */
    int64_t blocks[2];
    int64_t finish; /* panels of k in part 2 */
    int64_t kept;   /* panels of A and B of a block that there is room for */
    int slots[HS_TILES];
    size_t slot_bytes[HS_TILES]; /* bytes of one */
    size_t bytes;                /* of all */
};

/* 0; -1: even the smallest tiles are too large. */
int hs_tiling_make(struct hs_tiling *tiling, const struct hs_tiling_wish *wish);

/* One multiplication: tile (i, j) of C, panel l of k; the tile's first, its last. */
struct hs_job {
    int64_t i, j, l;
    int first, last;
};

/* All of them in order; begins zeroed. */
struct hs_walk {
    int64_t number;    /* multiplications passed */
    int64_t block, at; /* the block, multiplications passed in it */
};

/* The next one; 0: there is none. */
int hs_walk_peek(const struct hs_tiling *tiling, const struct hs_walk *walk, struct hs_job *job);
void hs_walk_next(const struct hs_tiling *tiling, struct hs_walk *walk);

/* Indices of tile t of a dimension; the first of them is *from. */
static inline int64_t hs_tile_range(const struct hs_tiling *tiling, int dim, int64_t t, int64_t *from)
{
    *from = t * tiling->edge[dim];
    int64_t left = tiling->extent[dim] - *from;
    return left < tiling->edge[dim] ? left : tiling->edge[dim];
}

#endif
