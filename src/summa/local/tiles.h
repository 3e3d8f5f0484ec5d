/*
 * How a local product is cut for a device whose memory may be smaller than the matrices, and in which order its tiles
 * are multiplied: pure arithmetic.
 *
 * C is cut into tiles.  Blocks of tiles, as large as memory allows, are computed one after the other in serpentine
 * order.  The tiles of C of a block stay on the device until they are complete.  A block is computed in two parts:
 *   1. all but the last panels of k, each for all tiles of the block: so the first multiplication needs few tiles, and
 *      each tile of A and B serves a whole row or column of the block;
 *   2. the last panels ("finish"), one tile of C after the other: each tile leaves for the host while the next ones
 *      are multiplied, so little remains to copy after the last multiplication.
 * Every second block goes through the panels of k in reverse order: it begins with the panels that the previous block
 * used last, so tiles of A or B that both blocks need are reused if they still have slots.  Each tile of C sums all
 * panels of k in ascending or in descending order, so the bits of the result depend on the tiling only.
 *
 * The model, for pinned memory: C leaves once and, if beta is not 0, enters once; A enters once per column of blocks, B
 * once per row:
 *     bytes in = size (m k J + k n I + (beta ? m n : 0)),  bytes out = size m n     for I x J blocks,
 *     seconds = first panel + max(flops / device, bytes in / link, bytes out / link) + last tile.
 *
 * Example: m = n = k = 16384 on an H200 with 50 GB/s each way at the same time and 60 TFLOP/s.  Everything fits: one
 * block of 4 x 4 tiles of 4096 x 4096, and 8 panels of 2048.  The multiplication takes 147 ms in both types.
 *     double: in 4.3 GB, 86 ms (beta = 0) or 6.4 GB, 129 ms; out 2.1 GB, 43 ms; lower bound 147 ms.  Two tiles of 67 MB
 *             enter before the first multiplication, 2.7 ms; the next four tiles each take 0.2 ms longer to enter than
 *             the multiplication meanwhile; a tile of 134 MB leaves after the last multiplication, 2.7 ms.
 *             Sum: 153 ms, 4 % above the lower bound.  Part 2 takes 3.4 ms per tile, and a tile takes 2.7 ms to leave.
 *     float:  half of all bytes: in 43 or 64 ms, out 21 ms, lower bound 147 ms; 1.3 ms before, 1.3 ms after: 149 ms.
 * Operands in pageable memory are copied by a single thread, at some 10 GB/s in and out together.  A, B and C in
 * double (6.4 GB) take 0.64 s, in float 0.32 s, which is then the lower bound.
 */
#ifndef HS_SUMMA_LOCAL_TILES_H
#define HS_SUMMA_LOCAL_TILES_H

#include "base/scalar.h"

enum { HS_TILES_A, HS_TILES_B, HS_TILES_C, HS_TILES_ADD, HS_TILES };
enum { HS_TILES_MOST = 256 }; /* maximum number of slots of an operand */

struct hs_tiling_wish {
    int64_t extent[3];   /* m, n, k: all at least 1 */
    size_t size;         /* bytes of an element */
    int needs[HS_TILES]; /* whether A, B, C and the old C need slots on the device */
    int64_t edge;        /* maximum edge of tiles of C; panels of k are at most half as wide */
    int64_t deep;        /* number of indices of k whose multiplication lasts a little longer than copying out a tile */
    int64_t bytes;       /* maximum bytes of all slots together */
};

struct hs_tiling {
    int64_t extent[3], edge[3], count[3]; /* for m, n, k: extent, indices per tile, number of tiles */
    int64_t block[2];                     /* number of tiles of C per block, along m and n */
    int64_t blocks[2];                    /* number of blocks, along m and n */
    int64_t finish;                       /* number of panels of k in part 2 of a block */
    int64_t kept;                         /* number of panels of k whose tiles of A and B have slots */
    int slots[HS_TILES];
    size_t slot_bytes[HS_TILES]; /* bytes of one slot of each operand */
    size_t bytes;                /* bytes of all slots together */
};

/* Returns 0; or -1 if even the smallest tiles do not fit. */
int hs_tiling_make(struct hs_tiling *tiling, const struct hs_tiling_wish *wish);

/* One multiplication: adds panel l of k to tile (i, j) of C.  first, last: whether it is the first or last for this
 * tile. */
struct hs_job {
    int64_t i, j, l;
    int first, last;
};

/* A walk over all multiplications in order; initialise with zeros. */
struct hs_walk {
    int64_t number;    /* number of multiplications so far */
    int64_t block, at; /* the current block, and the number of multiplications so far in it */
};

/* Sets *job to the next multiplication; returns 0 if none is left. */
int hs_walk_peek(const struct hs_tiling *tiling, const struct hs_walk *walk, struct hs_job *job);
void hs_walk_next(const struct hs_tiling *tiling, struct hs_walk *walk);

/* Number of indices of tile t in a dimension.  Sets *from to the first index. */
static inline int64_t hs_tile_range(const struct hs_tiling *tiling, int dim, int64_t t, int64_t *from)
{
    *from = t * tiling->edge[dim];
    int64_t left = tiling->extent[dim] - *from;
    return left < tiling->edge[dim] ? left : tiling->edge[dim];
}

#endif
