#include "hsumma/context/tiling.h"

#include <stdlib.h>
#include <string.h>

/* A process: its part, its place in the given table of the area, and its rank. */
struct member {
    int part, place, rank;
};

/* A part, whose members are member[first .. first + size). */
struct piece {
    int first, size;
};

/* A rectangle of the grid. */
struct area {
    int *table, pitch; /* address of its first place in the grid's table; distance between its rows in the table */
    int extent[2];
    struct member *member;
    struct piece *piece; /* largest first */
    int pieces;
    int *seen; /* for each row, then for each column: 1 + the last piece that touched it */
};

/* A cut into strips of `thick` rows (axis 0) or columns (axis 1).  If thick is 0, the given order remains. */
struct strips {
    int axis, thick;
};

/* The measure of an arrangement; smaller is better, `most` first, then `all`, then `shares`.  most: rows and columns
 * touched by the worst piece; all: the sum of this number over all pieces; shares: the same sum with each row weighted
 * by the area's number of columns and each column by its number of rows, which matters if the area is not square. */
struct measure {
    int64_t most, all, shares;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return x->part != y->part ? (x->part > y->part) - (x->part < y->part) : x->place - y->place;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->size != y->size ? y->size - x->size : x->first - y->first;
}

static int *entry(const struct area *area, int place)
{
    return area->table + (ptrdiff_t)(place / area->extent[1]) * area->pitch + place % area->extent[1];
}

static void find_pieces(struct area *area, const struct hs_division *part)
{
    int count = area->extent[0] * area->extent[1];
    for (int i = 0; i < count; i++) {
        int rank = *entry(area, i);
        area->member[i] = (struct member){.part = hs_part_of(part, rank), .place = i, .rank = rank};
    }
    qsort(area->member, (size_t)count, sizeof *area->member, compare_members);
    area->pieces = 0;
    for (int i = 0; i < count; i++) {
        if (i == 0 || area->member[i].part != area->member[i - 1].part)
            area->piece[area->pieces++] = (struct piece){.first = i, .size = 0};
        area->piece[area->pieces - 1].size++;
    }
    qsort(area->piece, (size_t)area->pieces, sizeof *area->piece, compare_pieces);
}

/* The place at position `at` of the path through the strips.  The path runs back and forth, across each strip and from
 * strip to strip, so that pieces stay connected. */
static int place_on_way(const struct area *area, const struct strips *strips, int at)
{
    int along = area->extent[1 - strips->axis], full = strips->thick * along, strip = at / full, inside = at % full;
    int left = area->extent[strips->axis] - strip * strips->thick, thick = left < strips->thick ? left : strips->thick;
    int step = inside / thick, across = inside % thick;
    across = strip * strips->thick + (step % 2 ? thick - 1 - across : across);
    step = strip % 2 ? along - 1 - step : step;
    return strips->axis == 0 ? across * area->extent[1] + step : step * area->extent[1] + across;
}

/* The place of member i of a piece that begins at position `at` of the path. */
static int place_of(const struct area *area, const struct strips *strips, const struct piece *piece, int at, int i)
{
    return strips->thick ? place_on_way(area, strips, at + i) : area->member[piece->first + i].place;
}

static struct measure measure(const struct area *area, const struct strips *strips)
{
    struct measure sum = {0, 0, 0};
    memset(area->seen, 0, (size_t)(area->extent[0] + area->extent[1]) * sizeof *area->seen);
    for (int p = 0, at = 0; p < area->pieces; at += area->piece[p++].size) {
        int64_t touched[2] = {0, 0};
        for (int i = 0; i < area->piece[p].size; i++) {
            int place = place_of(area, strips, &area->piece[p], at, i);
            int *row = &area->seen[place / area->extent[1]];
            int *column = &area->seen[area->extent[0] + place % area->extent[1]];
            touched[0] += *row != p + 1;
            touched[1] += *column != p + 1;
            *row = *column = p + 1;
        }
        int64_t lines = touched[0] + touched[1];
        sum.most = lines > sum.most ? lines : sum.most;
        sum.all += lines;
        sum.shares += touched[0] * area->extent[1] + touched[1] * area->extent[0];
    }
    return sum;
}

static int is_less(const struct measure *a, const struct measure *b)
{
    return a->most != b->most ? a->most < b->most : a->all != b->all ? a->all < b->all : a->shares < b->shares;
}

/* Finds the best strips.  Strips need not be thicker than the side of a square as large as the largest piece: thicker
 * ones give the tiles of strips along the other axis. */
static struct strips best_strips(const struct area *area)
{
    struct strips best = {0, 0};
    struct measure least = measure(area, &best);
    for (int thick = 1; area->pieces > 1 && (thick - 1) * (thick - 1) < area->piece[0].size; thick++)
        for (int axis = 0; axis < 2; axis++) {
            struct strips strips = {axis, thick};
            if (thick > area->extent[axis])
                continue;
            struct measure found = measure(area, &strips);
            if (is_less(&found, &least)) {
                least = found;
                best = strips;
            }
        }
    return best;
}

static hsumma_status arrange(struct area *area, int levels, const struct hs_division *const *part,
                             const struct hs_allocator *memory);

/* Arranges the inside of a piece, if the piece is a rectangle. */
static hsumma_status arrange_inside(const struct area *area, const struct strips *strips, const struct piece *piece,
                                    int at, int levels, const struct hs_division *const *part,
                                    const struct hs_allocator *memory)
{
    int least[2] = {area->extent[0], area->extent[1]}, most[2] = {0, 0};
    for (int i = 0; i < piece->size; i++) {
        int place = place_of(area, strips, piece, at, i);
        const int coord[2] = {place / area->extent[1], place % area->extent[1]};
        for (int axis = 0; axis < 2; axis++) {
            least[axis] = coord[axis] < least[axis] ? coord[axis] : least[axis];
            most[axis] = coord[axis] > most[axis] ? coord[axis] : most[axis];
        }
    }
    struct area inside = {.table = entry(area, least[0] * area->extent[1] + least[1]),
                          .pitch = area->pitch,
                          .extent = {most[0] - least[0] + 1, most[1] - least[1] + 1}};
    return inside.extent[0] * inside.extent[1] == piece->size ? arrange(&inside, levels, part, memory) : HSUMMA_OK;
}

static hsumma_status arrange(struct area *area, int levels, const struct hs_division *const *part,
                             const struct hs_allocator *memory)
{
    size_t count = (size_t)area->extent[0] * (size_t)area->extent[1];
    hsumma_status status = HSUMMA_OK;
    if (levels == 0 || count == 1)
        return HSUMMA_OK;
    area->member = hs_get(memory, count, sizeof *area->member);
    area->piece = hs_get(memory, count, sizeof *area->piece);
    area->seen = hs_get(memory, (size_t)area->extent[0] + (size_t)area->extent[1], sizeof *area->seen);
    if (area->member && area->piece && area->seen) {
        find_pieces(area, part[0]);
        struct strips strips = best_strips(area);
        for (int p = 0, at = 0; p < area->pieces; at += area->piece[p++].size)
            for (int i = 0; i < area->piece[p].size; i++)
                *entry(area, place_of(area, &strips, &area->piece[p], at, i)) =
                    area->member[area->piece[p].first + i].rank;
        for (int p = 0, at = 0; p < area->pieces && !status; at += area->piece[p++].size)
            status = arrange_inside(area, &strips, &area->piece[p], at, levels - 1, part + 1, memory);
    } else {
        status = HSUMMA_ERR_MEMORY;
    }
    hs_put(memory, area->member);
    hs_put(memory, area->piece);
    hs_put(memory, area->seen);
    return status;
}

hsumma_status hs_tiling_arrange(const int extent[2], int levels, const struct hs_division *const *part, int *rank,
                                const struct hs_allocator *memory)
{
    struct area whole = {.table = rank, .pitch = extent[1], .extent = {extent[0], extent[1]}};
    return arrange(&whole, levels, part, memory);
}

static hsumma_status list_by_rows(const int extent[2], int *rank, const struct hs_allocator *memory)
{
    int count = extent[0] * extent[1], *by_columns = hs_get(memory, (size_t)count, sizeof *by_columns);
    if (!by_columns)
        return HSUMMA_ERR_MEMORY;
    memcpy(by_columns, rank, (size_t)count * sizeof *rank);
    for (int i = 0; i < count; i++)
        rank[i % extent[0] * extent[1] + i / extent[0]] = by_columns[i];
    hs_put(memory, by_columns);
    return HSUMMA_OK;
}

hsumma_status hs_grid_order(const int extent[2], char order, const struct hs_topology *topology, int *rank,
                            const struct hs_allocator *memory)
{
    if (order == 'C')
        return list_by_rows(extent, rank, memory);
    if (order == 'R' || !topology || topology->size == 0)
        return HSUMMA_OK;
    const struct hs_division *const part[] = {&topology->division[HS_NODE], &topology->division[HS_SOCKET]};
    return hs_tiling_arrange(extent, 2, part, rank, memory);
}
