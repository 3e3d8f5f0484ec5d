#include "summa/local/tiles.h"

#include "base/memory.h"

#include <string.h>

enum { M, N, K };
enum { LEAST_EDGE = 8, ROUND = 64, SPARE = 2 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Tiles of nearly one size, none longer than `edge`. */
static void cut(struct hs_tiling *tiling, int dim, int64_t edge)
{
    int64_t extent = tiling->extent[dim], even = ceiling(extent, ceiling(extent, edge));
    int64_t round = least(ceiling(even, ROUND) * ROUND, edge);
    tiling->edge[dim] = least(round, extent);
    tiling->count[dim] = ceiling(extent, tiling->edge[dim]);
}

/* Places for the blocks and panels at hand, and their bytes.  `all`: of A and B as many as there are tiles. */
static int64_t count_places(struct hs_tiling *tiling, const struct hs_tiling_wish *wish, int all)
{
    static const int dims[HS_TILES][2] = {{M, K}, {K, N}, {M, N}, {M, N}};
    int64_t panels = tiling->kept > tiling->finish ? tiling->kept : tiling->finish + 1, bytes = 0;
    int64_t most[HS_TILES] = {tiling->count[M] * tiling->count[K], tiling->count[K] * tiling->count[N],
                              tiling->count[M] * tiling->count[N], 2};
    int64_t want[HS_TILES] = {(all ? tiling->count[M] : tiling->block[M]) * panels,
                              (all ? tiling->count[N] : tiling->block[N]) * panels,
                              tiling->block[M] * tiling->block[N] + SPARE, 2};
    for (int x = 0; x < HS_TILES; x++) {
        int64_t places = wish->needs[x] ? least(want[x], most[x]) : 0;
        int64_t place = hs_bytes_of(tiling->edge[dims[x][0]], tiling->edge[dims[x][1]], (int64_t)wish->size);
        place = (int64_t)hs_aligned((size_t)place);
        tiling->places[x] = (int)least(places, HS_TILES_MOST + 1);
        tiling->place[x] = (size_t)place;
        bytes += hs_bytes_of(places, place, 1);
        if (places > HS_TILES_MOST)
            return INT64_MAX;
    }
    tiling->bytes = (size_t)bytes;
    return bytes;
}

/* Takes a larger number, if there is room for what it brings. */
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
        cut(tiling, M, edge);
        cut(tiling, N, edge);
        cut(tiling, K, edge / 2);
        tiling->finish = 1;
        tiling->block[M] = least(2, tiling->count[M]);
        tiling->block[N] = least(2, tiling->count[N]);
        if (count_places(tiling, wish, 0) <= wish->bytes)
            break;
    }
    int grown = 1;
    while (grown) {
        int shorter = tiling->block[M] * tiling->edge[M] <= tiling->block[N] * tiling->edge[N] ? M : N;
        grown = grow(tiling, wish, &tiling->block[shorter], tiling->count[shorter]) ||
                grow(tiling, wish, &tiling->block[1 - shorter], tiling->count[1 - shorter]);
    }
    int64_t wanted = least(ceiling(wish->deep, tiling->edge[K]), tiling->count[K]);
    while (grow(tiling, wish, &tiling->finish, wanted))
        ;
    tiling->kept = tiling->finish + 1;
    while (grow(tiling, wish, &tiling->kept, tiling->count[K]))
        ;
    if (tiling->kept < tiling->count[K] || count_places(tiling, wish, 1) > wish->bytes)
        count_places(tiling, wish, 0);
    for (int dim = M; dim <= N; dim++)
        tiling->blocks[dim] = ceiling(tiling->count[dim], tiling->block[dim]);
    return 0;
}

/* Where a block begins, in tiles, and how many it has. */
static void locate(const struct hs_tiling *tiling, int64_t block, int64_t from[2], int64_t tiles[2])
{
    int64_t row = block / tiling->blocks[N], col = block % tiling->blocks[N];
    int64_t at[2] = {row, row % 2 ? tiling->blocks[N] - 1 - col : col};
    for (int dim = M; dim <= N; dim++) {
        from[dim] = at[dim] * tiling->block[dim];
        tiles[dim] = least(tiling->block[dim], tiling->count[dim] - from[dim]);
    }
}

int hs_walk_peek(const struct hs_tiling *tiling, const struct hs_walk *walk, struct hs_job *job)
{
    int64_t from[2], tiles[2], panels = tiling->count[K], sweeps = panels - tiling->finish;
    if (walk->block >= tiling->blocks[M] * tiling->blocks[N])
        return 0;
    locate(tiling, walk->block, from, tiles);
    int64_t all = tiles[M] * tiles[N], part1 = sweeps * all, at = walk->at;
    int64_t l = at < part1 ? at / all : sweeps + (at - part1) % tiling->finish;
    int64_t tile = at < part1 ? at % all : (at - part1) / tiling->finish;
    int64_t row = tile / tiles[N], col = tile % tiles[N];
    job->i = from[M] + row;
    job->j = from[N] + (row % 2 ? tiles[N] - 1 - col : col);
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
    if (++walk->at == tiles[M] * tiles[N] * tiling->count[K]) {
        walk->block++;
        walk->at = 0;
    }
}
