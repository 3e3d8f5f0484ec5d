#include "summa/local/tiles.h"

#include "base/memory.h"
#include "dist/axis.h"

#include <string.h>

enum { LEAST_EDGE = 8, ROUND = 64, SPARE = 2 };

/* Cuts a dimension into the fewest tiles of at most `edge` indices.  All but the last have one size, a multiple of
 * ROUND unless that exceeds `edge`. */
static void cut(struct hs_tiling *tiling, int dim, int64_t edge)
{
    int64_t extent = tiling->extent[dim], even = hs_cuts(extent, hs_cuts(extent, edge));
    int64_t round = hs_min(hs_cuts(even, ROUND) * ROUND, edge);
    tiling->edge[dim] = hs_min(round, extent);
    tiling->count[dim] = hs_cuts(extent, tiling->edge[dim]);
}

/* Sets the numbers of slots for the current blocks and panels, and returns the bytes of all slots; INT64_MAX if an
 * operand would need more than HS_TILES_MOST.  all: 1 if every tile of A and B gets a slot. */
static int64_t count_places(struct hs_tiling *tiling, const struct hs_tiling_wish *wish, int all)
{
    static const int dims[HS_TILES][2] = {{HS_M, HS_K}, {HS_K, HS_N}, {HS_M, HS_N}, {HS_M, HS_N}};
    int64_t panels = tiling->kept > tiling->finish ? tiling->kept : tiling->finish + 1, bytes = 0;
    int64_t most[HS_TILES] = {tiling->count[HS_M] * tiling->count[HS_K], tiling->count[HS_K] * tiling->count[HS_N],
                              tiling->count[HS_M] * tiling->count[HS_N], 2};
    int64_t want[HS_TILES] = {(all ? tiling->count[HS_M] : tiling->block[HS_M]) * panels,
                              (all ? tiling->count[HS_N] : tiling->block[HS_N]) * panels,
                              tiling->block[HS_M] * tiling->block[HS_N] + SPARE, 2};
    for (int x = 0; x < HS_TILES; x++) {
        int64_t slots = wish->needs[x] ? hs_min(want[x], most[x]) : 0;
        int64_t slot = hs_bytes_of(tiling->edge[dims[x][0]], tiling->edge[dims[x][1]], (int64_t)wish->size);
        slot = (int64_t)hs_aligned((size_t)slot);
        tiling->slots[x] = (int)hs_min(slots, HS_TILES_MOST + 1);
        tiling->slot_bytes[x] = (size_t)slot;
        bytes += hs_bytes_of(slots, slot, 1);
        if (slots > HS_TILES_MOST)
            return INT64_MAX;
    }
    tiling->bytes = (size_t)bytes;
    return bytes;
}

/* Increments *number if it is below `most` and the slots still fit into wish->bytes; returns 1 if it did. */
static int grow(struct hs_tiling *tiling, const struct hs_tiling_wish *wish, int64_t *number, int64_t most)
{
    struct hs_tiling before = *tiling;
    if (*number >= most)
        return 0;
    ++*number;
    if (count_places(tiling, wish, 0) <= wish->bytes)
        return 1;
    *tiling = before;
    return 0;
}

int hs_tiling_make(struct hs_tiling *tiling, const struct hs_tiling_wish *wish)
{
    int64_t edge = wish->edge;
    for (;; edge /= 2) {
        memset(tiling, 0, sizeof *tiling);
        memcpy(tiling->extent, wish->extent, sizeof tiling->extent);
        if (edge < LEAST_EDGE)
            return -1;
        cut(tiling, HS_M, edge);
        cut(tiling, HS_N, edge);
        cut(tiling, HS_K, edge / 2);
        tiling->finish = 1;
        tiling->block[HS_M] = hs_min(2, tiling->count[HS_M]);
        tiling->block[HS_N] = hs_min(2, tiling->count[HS_N]);
        if (count_places(tiling, wish, 0) <= wish->bytes)
            break;
    }
    int grown = 1;
    while (grown) {
        int shorter =
            tiling->block[HS_M] * tiling->edge[HS_M] <= tiling->block[HS_N] * tiling->edge[HS_N] ? HS_M : HS_N;
        grown = grow(tiling, wish, &tiling->block[shorter], tiling->count[shorter]) ||
                grow(tiling, wish, &tiling->block[1 - shorter], tiling->count[1 - shorter]);
    }
    int64_t wanted = hs_min(hs_cuts(wish->deep, tiling->edge[HS_K]), tiling->count[HS_K]);
    while (grow(tiling, wish, &tiling->finish, wanted))
        ;
    tiling->kept = tiling->finish + 1;
    while (grow(tiling, wish, &tiling->kept, tiling->count[HS_K]))
        ;
    if (tiling->kept < tiling->count[HS_K] || count_places(tiling, wish, 1) > wish->bytes)
        count_places(tiling, wish, 0);
    for (int dim = HS_M; dim <= HS_N; dim++)
        tiling->blocks[dim] = hs_cuts(tiling->count[dim], tiling->block[dim]);
    return 0;
}

/* The first tile of a block and its number of tiles, along m and n. */
static void locate(const struct hs_tiling *tiling, int64_t block, int64_t from[2], int64_t tiles[2])
{
    int64_t row = block / tiling->blocks[HS_N], col = block % tiling->blocks[HS_N];
    int64_t at[2] = {row, row % 2 ? tiling->blocks[HS_N] - 1 - col : col};
    for (int dim = HS_M; dim <= HS_N; dim++) {
        from[dim] = at[dim] * tiling->block[dim];
        tiles[dim] = hs_min(tiling->block[dim], tiling->count[dim] - from[dim]);
    }
}

int hs_walk_peek(const struct hs_tiling *tiling, const struct hs_walk *walk, struct hs_job *job)
{
    int64_t from[2], tiles[2], panels = tiling->count[HS_K], sweeps = panels - tiling->finish;
    if (walk->block >= tiling->blocks[HS_M] * tiling->blocks[HS_N])
        return 0;
    locate(tiling, walk->block, from, tiles);
    int64_t all = tiles[HS_M] * tiles[HS_N], part1 = sweeps * all, at = walk->at;
    int64_t l = at < part1 ? at / all : sweeps + (at - part1) % tiling->finish;
    int64_t tile = at < part1 ? at % all : (at - part1) / tiling->finish;
    int64_t row = tile / tiles[HS_N], col = tile % tiles[HS_N];
    job->i = from[HS_M] + row;
    job->j = from[HS_N] + (row % 2 ? tiles[HS_N] - 1 - col : col);
    job->first = l == 0;
    job->last = l == panels - 1;
    job->l = walk->block % 2 ? panels - 1 - l : l;
    return 1;
}

void hs_walk_next(const struct hs_tiling *tiling, struct hs_walk *walk)
{
    int64_t from[2], tiles[2];
    locate(tiling, walk->block, from, tiles);
    walk->number++;
    if (++walk->at == tiles[HS_M] * tiles[HS_N] * tiling->count[HS_K]) {
        walk->block++;
        walk->at = 0;
    }
}
