/* Copies from matrices into tiles, and sums of partial results from tiles into C, for any layout on both sides; and the
 * CRCs of both. */
#include "dist/overlap.h"
#include "summa/node/on_device.h"
#include "summa/node/shape.h"

#include <stdlib.h>
#include <string.h>

struct hs_runs hs_runs_begin(const struct hs_axis *x, int p, const struct hs_axis *y, int q, int64_t begin, int64_t end)
{
    return (struct hs_runs){.walk = hs_overlap_begin(x, p, y, q, begin, end), .first = begin};
}

static int runs_next(struct hs_runs *runs, struct hs_index_run *run)
{
    const struct hs_overlap *walk = &runs->walk;
    int64_t begin, length;
    int found = runs->pending;
    *run = runs->next;
    runs->pending = 0;
    while (!runs->pending && hs_overlap_next(&runs->walk, INT64_MAX, &begin, &length)) {
        struct hs_index_run next = {.from = hs_axis_before(walk->x, walk->p, begin),
                                    .to = walk->y ? hs_axis_before(walk->y, walk->q, begin) : begin - runs->first,
                                    .length = length};
        if (!found)
            *run = next;
        else if (next.from == run->from + run->length && next.to == run->to + run->length)
            run->length += length;
        else
            runs->pending = 1;
        runs->next = next;
        found = 1;
    }
    return found;
}

/* The runs of pinned indices that process `own` owns, within the range `part` of line p's local indices. */
static struct hs_runs pinned_runs(const struct hs_supply *supply, int own, int p, struct hs_range part)
{
    const struct hs_role *role = supply->role;
    int64_t begin = hs_axis_global(role->want, p, part.begin);
    int64_t end = hs_axis_global(role->want, p, part.begin + part.length - 1) + 1;
    return hs_runs_begin(role->own, own, role->want, p, begin, end);
}

/*
 * A strip is a run of rows; its offset, in bytes, is relative to the first line's part of the tile.  A process copies
 * its part of a step's tile by columns of its matrix, and within a column in the order of the rows, even if consecutive
 * strips go to different lines: copying short pieces that are far apart in memory takes several times as long.
 */
struct strip {
    int64_t from, length;
    size_t offset;
};

enum { STRIPS = 64 };

/* What is done with each piece. */
enum task { COPY, CRC_OF_MATRIX, CRC_OF_TILE };

struct copying {
    struct hs_node_product *node;
    const struct hs_supply *supply;
    struct hs_matrix matrix;
    int coord[2];
    const int8_t *lines; /* lines[p]: whether line p gets anything (hs_supply.gives); NULL if all lines do */
    struct hs_range panel;
    struct strip strip[STRIPS];
    int strips;
    int64_t bytes;
    enum task task;
    uint32_t crc;
};

/* Copies each strip for all columns of a run at once. */
static void copy_on_device(struct copying *copying, struct hs_index_run columns, char *tiles)
{
    size_t size = copying->node->problem->scalar->size;
    const struct hs_matrix *matrix = &copying->matrix;
    for (int i = 0; i < copying->strips; i++) {
        const struct strip *strip = &copying->strip[i];
        hs_node_device_copy(copying->node, tiles + (size_t)(columns.to * copying->supply->ld) * size + strip->offset,
                            copying->supply->ld,
                            matrix->base + (size_t)(strip->from + columns.from * matrix->ld) * size, matrix->ld,
                            strip->length, columns.length);
        copying->bytes += strip->length * columns.length * (int64_t)size;
    }
}

/* Continues the CRC of the matrix, or of the tile, with all strips, for the columns of a run. */
static void take_crc(struct copying *copying, struct hs_index_run columns, const char *tiles)
{
    const size_t size = copying->node->problem->scalar->size;
    const struct hs_matrix *matrix = &copying->matrix;
    for (int64_t j = 0; j < columns.length; j++)
        for (int i = 0; i < copying->strips; i++) {
            const struct strip *strip = &copying->strip[i];
            const char *piece = copying->task == CRC_OF_TILE
                                    ? tiles + (size_t)((columns.to + j) * copying->supply->ld) * size + strip->offset
                                    : matrix->base + (size_t)(strip->from + (columns.from + j) * matrix->ld) * size;
            copying->crc = hs_crc32c_after(copying->crc, piece, (size_t)strip->length * size);
        }
}

/* Copies all strips, for the columns of a run. */
static void copy_columns(struct copying *copying, struct hs_index_run columns, char *tiles)
{
    size_t size = copying->node->problem->scalar->size;
    const struct hs_matrix *matrix = &copying->matrix;
    if (copying->task != COPY) {
        take_crc(copying, columns, tiles);
        return;
    }
    if (copying->node->device) {
        copy_on_device(copying, columns, tiles);
        return;
    }
    const int real = hs_compute_is_real(copying->node->problem->scalar->compute);
    for (int64_t j = 0; j < columns.length; j++) {
        const char *from = matrix->base + (size_t)((columns.from + j) * matrix->ld) * size;
        char *to = tiles + (size_t)((columns.to + j) * copying->supply->ld) * size;
        for (int i = 0; i < copying->strips; i++) {
            const struct strip *strip = &copying->strip[i];
            size_t bytes = (size_t)strip->length * size;
            if (real)
                memcpy(to + strip->offset, from + (size_t)strip->from * size, bytes);
            copying->bytes += (int64_t)bytes;
        }
    }
}

/* The runs of a panel's indices that the process at `coord` has. */
static struct hs_runs looped_runs(const struct hs_role *role, const int coord[2], struct hs_range panel)
{
    return hs_runs_begin(role->looped, coord[role->loop_axis], NULL, 0, panel.begin, panel.begin + panel.length);
}

/* Sets *run to the next run of pinned indices of a line's part that this process has; returns 0 if none is left.  An
 * operand without an exchange has a single run. */
static int next_pinned(const struct copying *copying, struct hs_runs *runs, struct hs_range part,
                       struct hs_index_run *run)
{
    if (copying->supply->role->exchanged) {
        int found = runs_next(runs, run);
        run->to -= part.begin;
        return found;
    }
    *run = (struct hs_index_run){.from = part.begin, .length = runs->pending ? part.length : 0};
    return runs->pending--;
}

/* Sets *part to the part of line p in a step; returns 0 if the line gets nothing. */
static int part_of(const struct copying *copying, int64_t step, int p, struct hs_range *part)
{
    *part = hs_supply_part(copying->node, copying->supply, p, step);
    return (!copying->lines || copying->lines[p]) && part->length > 0;
}

static struct hs_runs begin_pinned(const struct copying *copying, int p, struct hs_range part)
{
    const struct hs_role *role = copying->supply->role;
    if (!role->exchanged)
        return (struct hs_runs){.pending = 1};
    return pinned_runs(copying->supply, copying->coord[role->own_axis], p, part);
}

static int by_row(const void *x, const void *y)
{
    int64_t a = ((const struct strip *)x)->from, b = ((const struct strip *)y)->from;
    return (a > b) - (a < b);
}

/* Copies the collected strips, for all columns that this process has of the panel. */
static void flush_pinned(struct copying *copying, char *tiles)
{
    struct hs_index_run columns;
    struct hs_runs runs = looped_runs(copying->supply->role, copying->coord, copying->panel);
    qsort(copying->strip, (size_t)copying->strips, sizeof *copying->strip, by_row);
    while (runs_next(&runs, &columns))
        copy_columns(copying, columns, tiles);
    copying->strips = 0;
}

/* Copies from a matrix whose rows are the pinned dimension.  The strips of all lines are collected together. */
static void copy_pinned_rows(struct copying *copying, int64_t step, int first, int end, char *tiles)
{
    const struct hs_supply *supply = copying->supply;
    size_t size = copying->node->problem->scalar->size;
    for (int p = first; p < end; p++) {
        struct hs_range part;
        struct hs_index_run rows;
        if (!part_of(copying, step, p, &part))
            continue;
        struct hs_runs runs = begin_pinned(copying, p, part);
        while (next_pinned(copying, &runs, part, &rows)) {
            if (copying->strips == STRIPS)
                flush_pinned(copying, tiles);
            copying->strip[copying->strips++] =
                (struct strip){.from = rows.from,
                               .length = rows.length,
                               .offset = (size_t)((p - first) * supply->pitch) + (size_t)rows.to * size};
        }
    }
    flush_pinned(copying, tiles);
}

/* Copies the strips of rows of the looped dimension, for all columns of each line. */
static void flush_looped(struct copying *copying, int64_t step, int first, int end, char *tiles)
{
    const struct hs_supply *supply = copying->supply;
    for (int p = first; p < end; p++) {
        struct hs_range part;
        struct hs_index_run columns;
        if (!part_of(copying, step, p, &part))
            continue;
        struct hs_runs runs = begin_pinned(copying, p, part);
        while (next_pinned(copying, &runs, part, &columns))
            copy_columns(copying, columns, tiles + (size_t)((p - first) * supply->pitch));
    }
    copying->strips = 0;
}

static void copy_looped_rows(struct copying *copying, int64_t step, int first, int end, char *tiles)
{
    size_t size = copying->node->problem->scalar->size;
    struct hs_runs runs = looped_runs(copying->supply->role, copying->coord, copying->panel);
    struct hs_index_run rows;
    while (runs_next(&runs, &rows)) {
        if (copying->strips == STRIPS)
            flush_looped(copying, step, first, end, tiles);
        copying->strip[copying->strips++] =
            (struct strip){.from = rows.from, .length = rows.length, .offset = (size_t)rows.to * size};
    }
    flush_looped(copying, step, first, end, tiles);
}

/* Copies the parts of lines [first, end), whose tiles are consecutive from `tiles` on. */
static void copy_tiles(struct copying *copying, int64_t step, int first, int end, char *tiles)
{
    copying->panel = hs_node_panel(copying->node, hs_panel_of(copying->node, step));
    if (copying->supply->role->loop_axis == 0)
        copy_looped_rows(copying, step, first, end, tiles);
    else
        copy_pinned_rows(copying, step, first, end, tiles);
}

void hs_node_load(struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    const struct hs_role *role = supply->role;
    const struct hs_view *view = &node->problem->view[supply->operand];
    const struct hs_matrix *to = &node->matrix[supply->operand], *from = &node->device->host[supply->operand];
    const struct hs_range panel = hs_node_panel(node, hs_panel_of(node, step));
    const size_t size = node->problem->scalar->size;
    const int coord = hs_coord_on(role->looped, node->problem->grid.coord[role->loop_axis]);
    struct hs_runs runs = hs_runs_begin(role->looped, coord, NULL, 0, panel.begin, panel.begin + panel.length);
    struct hs_index_run run;
    while (runs_next(&runs, &run)) {
        int by_rows = role->loop_axis == 0;
        hs_node_device_copy(node, to->base + (size_t)(run.from * (by_rows ? 1 : to->ld)) * size, to->ld,
                            from->base + (size_t)(run.from * (by_rows ? 1 : from->ld)) * size, from->ld,
                            by_rows ? run.length : view->rows, by_rows ? view->cols : run.length);
    }
}

int64_t hs_node_fill(struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    const int *coord = node->problem->grid.coord;
    const struct hs_compute *compute = node->problem->scalar->compute;
    struct copying copying = {.node = node,
                              .supply = supply,
                              .matrix = node->matrix[supply->operand],
                              .coord = {coord[0], coord[1]},
                              .lines = supply->gives};
    copy_tiles(&copying, step, 0, supply->role->want->nprocs, hs_supply_slot(node, supply, step, 0));
    hs_compute_bytes(compute, HS_WORK_SHARED_COPY, copying.bytes);
    return copying.bytes;
}

/* The CRC of what the process at `coord` has, or with CRC_OF_TILE has copied, for line p in a step. */
static uint32_t crc_of(struct hs_node_product *node, const struct hs_supply *supply, int64_t step, int p,
                       const int coord[2], enum task task)
{
    struct copying copying = {.node = node,
                              .supply = supply,
                              .matrix = node->matrix[supply->operand],
                              .coord = {coord[0], coord[1]},
                              .task = task};
    copy_tiles(&copying, step, p, p + 1, hs_supply_slot(node, supply, step, p));
    return copying.crc;
}

void hs_node_take_crcs(struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    const struct hs_grid *grid = &node->problem->grid;
    for (int p = 0; p < supply->role->want->nprocs; p++)
        if (supply->gives[p])
            hs_supply_crcs(node, supply, step, p)[hs_grid_me(grid)] =
                crc_of(node, supply, step, p, grid->coord, CRC_OF_MATRIX);
}

void hs_node_check_crcs(struct hs_node_product *node, const struct hs_supply *supply, int64_t step)
{
    const struct hs_grid *grid = &node->problem->grid;
    const struct hs_peers *givers = &supply->givers;
    const int owner = hs_panel_owner(node, supply, hs_panel_of(node, step)), p = hs_supply_line(supply, grid->coord);
    int coord[2];
    if (hs_reads_own(node, supply, owner))
        return;
    for (int i = 0; i < givers->count; i++) {
        const int place = givers->place[i];
        hs_grid_coordinates(grid, place, coord);
        if (hs_peer_has(givers, i, owner))
            hs_shared_crc_compare(node->checks, supply->operand, hs_grid_rank(grid, place),
                                  crc_of(node, supply, step, p, coord, CRC_OF_TILE),
                                  hs_supply_crcs(node, supply, step, p)[place]);
    }
}

int hs_owned_next(struct hs_owned_blocks *blocks)
{
    while (blocks->col.length == 0 || !runs_next(&blocks->rows, &blocks->row)) {
        if (!runs_next(&blocks->columns, &blocks->col))
            return 0;
        blocks->rows = blocks->all_rows;
    }
    return 1;
}

/* The address of the current block in a tile. */
static const char *block_in(const struct hs_owned_blocks *blocks, const struct hs_matrix *tile, size_t size)
{
    return tile->base + (size_t)(blocks->row.to + blocks->col.to * tile->ld) * size;
}

void hs_owned_add(struct hs_node_product *node, const struct hs_owned_blocks *blocks, const void *beta,
                  const struct hs_matrix *tile)
{
    const struct hs_scalar *scalar = node->problem->scalar;
    const struct hs_matrix *c = &node->matrix[HS_C];
    const int64_t rows = blocks->row.length, cols = blocks->col.length;
    char *sum = c->base + (size_t)(blocks->row.from + blocks->col.from * c->ld) * scalar->size;
    if (node->device)
        hs_node_device_update(node, rows, cols, beta, sum, c->ld, block_in(blocks, tile, scalar->size), tile->ld);
    else
        hs_update(scalar, rows, cols, beta, sum, c->ld, block_in(blocks, tile, scalar->size), tile->ld);
}

uint32_t hs_owned_crc(struct hs_owned_blocks *blocks, const struct hs_matrix *tile, size_t size)
{
    uint32_t crc = 0;
    while (hs_owned_next(blocks))
        for (int64_t j = 0; j < blocks->col.length; j++)
            crc = hs_crc32c_after(crc, block_in(blocks, tile, size) + (size_t)(j * tile->ld) * size,
                                  (size_t)blocks->row.length * size);
    return crc;
}

/* The blocks of C's panel that the process at `owner` owns, within the partial results of line p. */
static struct hs_owned_blocks blocks_of(const struct hs_node_product *node, int64_t panel, int p, const int owner[2])
{
    const struct hs_role *role = node->out.role;
    const struct hs_range part = {0, hs_axis_count(role->want, p)};
    struct hs_runs pinned = pinned_runs(&node->out, owner[role->own_axis], p, part);
    struct hs_runs looped = looped_runs(role, owner, hs_node_panel(node, panel));
    return role->loop_axis == 0 ? (struct hs_owned_blocks){.columns = pinned, .all_rows = looped}
                                : (struct hs_owned_blocks){.columns = looped, .all_rows = pinned};
}

/* The partial result of a panel of the process at `place`. */
static struct hs_matrix tile_of(const struct hs_node_product *node, int64_t panel, int place)
{
    return (struct hs_matrix){hs_supply_slot(node, &node->out, panel * node->chunks, place), node->out.ld};
}

/* Computes beta C + the partial results of a line for one block of C, in the order of the line.  Processes that own no
 * index of k have no partial result. */
static void sum_block(struct hs_node_product *node, int64_t panel, int p, const struct hs_owned_blocks *blocks)
{
    const struct hs_role *role = node->out.role;
    const struct hs_grid *grid = &node->problem->grid;
    const void *beta = &node->beta;
    for (int q = 0; q < grid->extent[role->line_axis]; q++) {
        if (hs_axis_count(node->variant.axis[HS_K], q) == 0)
            continue;
        const struct hs_matrix tile = tile_of(node, panel, hs_grid_index(grid, role->want_axis, p, q));
        hs_owned_add(node, blocks, beta, &tile);
        beta = node->problem->scalar->one;
    }
}

void hs_node_sum(struct hs_node_product *node, int64_t panel)
{
    const struct hs_supply *out = &node->out;
    for (int p = 0; p < out->role->want->nprocs; p++) {
        if (!out->gives[p] || hs_axis_count(out->role->want, p) == 0)
            continue;
        struct hs_owned_blocks blocks = blocks_of(node, panel, p, node->problem->grid.coord);
        while (hs_owned_next(&blocks))
            sum_block(node, panel, p, &blocks);
    }
}

/* The CRC of what the process at `maker` has computed of a panel for the one at `owner`. */
static uint32_t crc_of_sum(const struct hs_node_product *node, int64_t panel, const int maker[2], const int owner[2])
{
    const struct hs_matrix tile = tile_of(node, panel, hs_grid_index(&node->problem->grid, 0, maker[0], maker[1]));
    struct hs_owned_blocks blocks = blocks_of(node, panel, hs_supply_line(&node->out, maker), owner);
    return hs_owned_crc(&blocks, &tile, node->problem->scalar->size);
}

void hs_node_take_crcs_of_sum(struct hs_node_product *node, int64_t panel)
{
    const struct hs_grid *grid = &node->problem->grid;
    const struct hs_peers *owners = &node->out.givers;
    uint32_t *crcs = hs_supply_crcs(node, &node->out, panel * node->chunks, hs_grid_me(grid));
    int owner[2];
    for (int i = 0; i < owners->count; i++) {
        hs_grid_coordinates(grid, owners->place[i], owner);
        crcs[owners->place[i]] = crc_of_sum(node, panel, grid->coord, owner);
    }
}

void hs_node_check_crcs_of_sum(struct hs_node_product *node, int64_t panel)
{
    const struct hs_grid *grid = &node->problem->grid;
    const struct hs_peers *makers = &node->out.takers;
    int maker[2];
    for (int i = 0; i < makers->count; i++) {
        const int place = makers->place[i];
        hs_grid_coordinates(grid, place, maker);
        hs_shared_crc_compare(node->checks, HS_C, hs_grid_rank(grid, place),
                              crc_of_sum(node, panel, maker, grid->coord),
                              hs_supply_crcs(node, &node->out, panel * node->chunks, place)[hs_grid_me(grid)]);
    }
}
