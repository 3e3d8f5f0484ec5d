/* Between matrices and the tiles in shared memory: any layout on both sides. */
#include "dist/overlap.h"
#include "summa/node_shape.h"

#include <string.h>
#include <sys/uio.h>

/*
 * Runs: indices that follow each other in two places, one at a time.  `from` counts in the part that process p of axis
 * x has; `to` in the part of process q of axis y, or (y is NULL) from the first index of the walk.
 */
struct runs {
    struct hs_overlap walk;
    int64_t first;
    int pending;
    int64_t from, to, length; /* of the run that is pending */
};

struct run {
    int64_t from, to, length;
};

static struct runs runs_begin(const struct hs_axis *x, int p, const struct hs_axis *y, int q, int64_t begin,
                              int64_t end)
{
    return (struct runs){hs_overlap_begin(x, p, y, q, begin, end), begin, 0, 0, 0, 0};
}

static int runs_next(struct runs *runs, struct run *run)
{
    const struct hs_overlap *walk = &runs->walk;
    int64_t begin, length;
    int found = runs->pending;
    *run = (struct run){runs->from, runs->to, runs->length};
    runs->pending = 0;
    while (hs_overlap_next(&runs->walk, INT64_MAX, &begin, &length)) {
        int64_t from = hs_axis_before(walk->x, walk->p, begin);
        int64_t to = walk->y ? hs_axis_before(walk->y, walk->q, begin) : begin - runs->first;
        if (!found) {
            *run = (struct run){from, to, length};
            found = 1;
        } else if (from == run->from + run->length && to == run->to + run->length) {
            run->length += length;
        } else {
            runs->pending = 1;
            runs->from = from;
            runs->to = to;
            runs->length = length;
            break;
        }
    }
    return found;
}

/* What a supply's process has of the pinned dimension for a part of line p. */
static struct runs pinned_runs(const struct hs_supply *supply, int own, int p, struct hs_range part)
{
    const struct hs_role *role = supply->role;
    int64_t begin = hs_axis_global(role->want, p, part.begin);
    int64_t end = hs_axis_global(role->want, p, part.begin + part.length - 1) + 1;
    return runs_begin(role->own, own, role->want, p, begin, end);
}

/* One block between the matrix (rows and columns as stored) and the tile: `pinned` and `looped` say where. */
struct block {
    char *matrix, *tile;
    int64_t rows, cols;
};

static struct block block_of(const struct hs_supply *supply, const struct hs_matrix *matrix, char *tile, size_t size,
                             struct run pinned, struct run looped)
{
    int loop_rows = supply->role->loop_axis == 0;
    struct run r = loop_rows ? looped : pinned, c = loop_rows ? pinned : looped;
    return (struct block){matrix->base + (size_t)(r.from + c.from * matrix->ld) * size,
                          tile + (size_t)(r.to + c.to * supply->ld) * size, r.length, c.length};
}

/*
 * Copies what the process at `coord` has of part p of a step's tile: from its matrix, whose base may be an address of
 * another process, which only `copy` understands.  The bytes; negative: copy has failed.
 */
typedef int copy_block(void *state, const struct block *block, size_t size, int64_t ld_tile, int64_t ld_matrix);

static int64_t copy_part(const struct hs_node *node, const struct hs_supply *supply, int64_t step, int p,
                         const int coord[2], const struct hs_matrix *matrix, char *tile, copy_block *copy, void *state)
{
    const struct hs_role *role = supply->role;
    size_t size = node->problem->scalar->size;
    struct hs_range part = hs_supply_part(node, supply, p, step), panel = hs_node_panel(node, hs_panel_of(node, step));
    struct run pinned, looped;
    int64_t bytes = 0;
    if (part.length <= 0)
        return 0;
    struct runs outer = pinned_runs(supply, coord[role->own_axis], p, part);
    int same = !role->exchanged; /* all of it, in one run: no need to look at blocks */
    while (same || runs_next(&outer, &pinned)) {
        if (same)
            pinned = (struct run){part.begin, part.begin, part.length};
        pinned.to -= part.begin;
        struct runs inner =
            runs_begin(role->looped, coord[role->loop_axis], NULL, 0, panel.begin, panel.begin + panel.length);
        while (runs_next(&inner, &looped)) {
            struct block block = block_of(supply, matrix, tile, size, pinned, looped);
            if (copy(state, &block, size, supply->ld, matrix->ld))
                return -1;
            bytes += block.rows * block.cols * (int64_t)size;
        }
        if (same)
            break;
    }
    return bytes;
}

static int copy_own(void *state, const struct block *block, size_t size, int64_t ld_tile, int64_t ld_matrix)
{
    (void)state;
    hs_copy_block(size, block->rows, block->cols, block->tile, ld_tile, block->matrix, ld_matrix);
    return 0;
}

int64_t hs_node_fill(struct hs_node *node, const struct hs_supply *supply, int64_t step)
{
    int64_t bytes = 0;
    for (int p = 0; p < supply->role->want->nprocs; p++)
        if (supply->gives[p])
            bytes += copy_part(node, supply, step, p, node->problem->grid.coord, &node->matrix[supply->operand],
                               hs_supply_slot(node, supply, step, p), copy_own, NULL);
    return bytes;
}

/* One copy from another process's memory, many columns in one call of the system. */
enum { PIECES = 256 };
struct reading {
    pid_t process;
    int count;
    struct iovec here[PIECES], there[PIECES];
};

/* Reads what has been collected; 0, or -1. */
static int read_pieces(struct reading *reading)
{
    size_t bytes = 0;
    for (int i = 0; i < reading->count; i++)
        bytes += reading->here[i].iov_len;
    unsigned long count = (unsigned long)reading->count;
    reading->count = 0;
    if (bytes == 0)
        return 0;
    ssize_t got = process_vm_readv(reading->process, reading->here, count, reading->there, count, 0);
    return got >= 0 && (size_t)got == bytes ? 0 : -1;
}

static int copy_theirs(void *state, const struct block *block, size_t size, int64_t ld_tile, int64_t ld_matrix)
{
    struct reading *reading = state;
    for (int64_t j = 0; j < block->cols; j++) {
        size_t bytes = (size_t)block->rows * size;
        reading->here[reading->count] = (struct iovec){block->tile + (size_t)(j * ld_tile) * size, bytes};
        reading->there[reading->count] = (struct iovec){block->matrix + (size_t)(j * ld_matrix) * size, bytes};
        if (++reading->count == PIECES && read_pieces(reading))
            return -1;
    }
    return 0;
}

int64_t hs_node_fetch(struct hs_node *node, const struct hs_supply *supply, int64_t step, const struct hs_peers *from,
                      int i)
{
    const struct hs_grid *grid = &node->problem->grid;
    const int coord[2] = {from->place[i] / grid->extent[1], from->place[i] % grid->extent[1]};
    int p = hs_coord_on(supply->role->want, grid->coord[supply->role->want_axis]);
    char *tile = hs_supply_slot(node, supply, step, hs_node_place(node->problem, 0, grid->coord[0], grid->coord[1]));
    struct hs_matrix matrix = node->matrix[supply->operand];
    struct reading reading;
    if (from->rank[i] == node->room->directory.me)
        return copy_part(node, supply, step, p, coord, &matrix, tile, copy_own, NULL);
    const struct hs_words *words = &node->room->directory.entry[from->rank[i]];
    matrix.base = (char *)(intptr_t)atomic_load_explicit(&words->place[supply->operand].offset, memory_order_relaxed);
    matrix.ld = atomic_load_explicit(&words->place[supply->operand].ld, memory_order_relaxed);
    reading.process = words->process;
    reading.count = 0;
    int64_t bytes = copy_part(node, supply, step, p, coord, &matrix, tile, copy_theirs, &reading);
    return bytes < 0 || read_pieces(&reading) ? -1 : bytes;
}

/* Adds up one block of C: the partial results of a line, in its order; those without any of k have made none. */
static void sum_block(struct hs_node *node, int panel, int p, struct run pinned, struct run looped)
{
    const struct hs_supply *out = &node->out;
    const struct hs_problem *problem = node->problem;
    const struct hs_scalar *scalar = problem->scalar;
    const struct hs_axis *k = node->variant.axis[HS_K];
    const struct hs_matrix *c = &node->matrix[HS_C];
    const void *beta = &node->beta;
    for (int q = 0; q < problem->grid.extent[out->role->line_axis]; q++) {
        if (hs_axis_count(k, q) == 0)
            continue;
        int place = hs_node_place(problem, out->role->want_axis, p, q);
        char *tile = hs_supply_slot(node, out, (int64_t)panel * node->chunks, place);
        struct block block = block_of(out, c, tile, scalar->size, pinned, looped);
        scalar->update(block.rows, block.cols, beta, block.matrix, c->ld, block.tile, out->ld);
        beta = scalar->one;
    }
}

void hs_node_sum(struct hs_node *node, int panel)
{
    const struct hs_supply *out = &node->out;
    const struct hs_role *role = out->role;
    const int *coord = node->problem->grid.coord;
    struct hs_range range = hs_node_panel(node, panel);
    struct run pinned, looped;
    for (int p = 0; p < role->want->nprocs; p++) {
        struct hs_range part = {0, hs_axis_count(role->want, p)};
        if (!out->gives[p] || part.length == 0)
            continue;
        struct runs outer = pinned_runs(out, coord[role->own_axis], p, part);
        while (runs_next(&outer, &pinned)) {
            struct runs inner =
                runs_begin(role->looped, coord[role->loop_axis], NULL, 0, range.begin, range.begin + range.length);
            while (runs_next(&inner, &looped))
                sum_block(node, panel, p, pinned, looped);
        }
    }
}
