#include "summa/checksum.h"

#include "base/hash.h"
#include "summa/fast.h"
#include "summa/parity.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    COLUMN_PIECE = 4096, /* of a column at a time: long runs in memory, while the weights or sums stay in the cache */
    REALS_AT_ONCE = 8,
    RESULT_TILE = 1 << 15, /* elements of a product with checksums at a time, unless there are many blocks */
    FACTOR_TILE = 1 << 19  /* bytes of its factor: small enough to stay in a cache */
};

double hs_checksum_weight(int64_t i)
{
    return 1 + (double)(hs_scrambled((uint64_t)i + 1) >> 12) * 0x1p-52;
}

/* Vectors of numbers, for compilers that do not vectorise sums by themselves. */
typedef double lanes __attribute__((vector_size(REALS_AT_ONCE * sizeof(double))));
typedef int64_t bits_of_lanes __attribute__((vector_size(REALS_AT_ONCE * sizeof(double))));
typedef float half_lanes __attribute__((vector_size(REALS_AT_ONCE * sizeof(float))));

/* By address: without AVX, there is no convention for passing vectors of this length. */
static inline void load_doubles(const void *from, lanes *x)
{
    memcpy(x, from, sizeof *x);
}

static inline void load_floats(const void *from, lanes *x)
{
    half_lanes half;
    memcpy(&half, from, sizeof half);
    *x = __builtin_convertvector(half, lanes);
}

#define MAGNITUDE(x) ((lanes)((bits_of_lanes)(x)&INT64_MAX))

static inline void add_to(double *sum, const lanes *x)
{
    lanes now;
    load_doubles(sum, &now);
    now += *x;
    memcpy(sum, &now, sizeof now);
}

/*
 * Reals of a column x, for complex types real and imaginary parts in turn, which `parts` = 2 keeps apart.
 * COLUMN: sum[0] += by[] x of real parts, sum[1] of imaginary parts, sum[2] += by[] |x|.
 * ROWS: sum[] += by x, sizes[] += by |x|.
 * NARROW: to[] = from[] in the type, of one part.  WIDEN: sum[] += from[] of one part.
 */
#define KERNELS(real)                                                                                               \
    HS_FAST static void column_of_##real##s(int64_t count, const void *column, const double *by, int parts,         \
                                            double sum[3])                                                          \
    {                                                                                                               \
        const real *x = column;                                                                                     \
        lanes total[2] = {{0}}, other[2] = {{0}}, now, factor;                                                      \
        int64_t t = 0;                                                                                              \
        for (; t + 2 * REALS_AT_ONCE <= count; t += 2 * REALS_AT_ONCE) {                                            \
            load_##real##s(x + t, &now);                                                                            \
            load_doubles(by + t, &factor);                                                                          \
            total[0] += factor * now;                                                                               \
            total[1] += factor * MAGNITUDE(now);                                                                    \
            load_##real##s(x + t + REALS_AT_ONCE, &now);                                                            \
            load_doubles(by + t + REALS_AT_ONCE, &factor);                                                          \
            other[0] += factor * now;                                                                               \
            other[1] += factor * MAGNITUDE(now);                                                                    \
        }                                                                                                           \
        for (; t < count; t++) {                                                                                    \
            sum[t & (parts - 1)] += by[t] * (double)x[t];                                                           \
            sum[2] += by[t] * fabs((double)x[t]);                                                                   \
        }                                                                                                           \
        total[0] += other[0];                                                                                       \
        total[1] += other[1];                                                                                       \
        for (int l = 0; l < REALS_AT_ONCE; l++) {                                                                   \
            sum[l & (parts - 1)] += total[0][l];                                                                    \
            sum[2] += total[1][l];                                                                                  \
        }                                                                                                           \
    }                                                                                                               \
    HS_FAST static void rows_of_##real##s(int64_t count, const void *column, double by, double *sum, double *sizes) \
    {                                                                                                               \
        const real *x = column;                                                                                     \
        int64_t t = 0;                                                                                              \
        for (; t + REALS_AT_ONCE <= count; t += REALS_AT_ONCE) {                                                    \
            lanes now, scaled;                                                                                      \
            load_##real##s(x + t, &now);                                                                            \
            scaled = by * now;                                                                                      \
            add_to(sum + t, &scaled);                                                                               \
            scaled = by * MAGNITUDE(now);                                                                           \
            add_to(sizes + t, &scaled);                                                                             \
        }                                                                                                           \
        for (; t < count; t++) {                                                                                    \
            sum[t] += by * (double)x[t];                                                                            \
            sizes[t] += by * fabs((double)x[t]);                                                                    \
        }                                                                                                           \
    }                                                                                                               \
    HS_FAST static void narrow_to_##real##s(int64_t count, const double *from, void *to, int parts)                 \
    {                                                                                                               \
        for (int64_t t = 0; t < count; t++)                                                                         \
            ((real *)to)[t * parts] = (real)from[t];                                                                \
    }                                                                                                               \
    HS_FAST static void widen_##real##s(int64_t count, const void *from, int parts, double *sum)                    \
    {                                                                                                               \
        const real *x = from;                                                                                       \
        int64_t t = 0;                                                                                              \
        for (; parts == 1 && t + REALS_AT_ONCE <= count; t += REALS_AT_ONCE) {                                      \
            lanes now;                                                                                              \
            load_##real##s(x + t, &now);                                                                            \
            add_to(sum + t, &now);                                                                                  \
        }                                                                                                           \
        for (; t < count; t++)                                                                                      \
            sum[t] += (double)x[t * parts];                                                                         \
    }

KERNELS(float)
KERNELS(double)

/* sum[] += by x[] */
HS_FAST static void add_multiple(int64_t count, const double *x, double by, double *sum)
{
    int64_t t = 0;
    for (; t + REALS_AT_ONCE <= count; t += REALS_AT_ONCE) {
        lanes now;
        load_doubles(x + t, &now);
        now *= by;
        add_to(sum + t, &now);
    }
    for (; t < count; t++)
        sum[t] += by * x[t];
}

/* One call: the part, and what the type implies. */
struct pass {
    const struct hs_scalar *scalar;
    const struct hs_local_part *part;
    int64_t height, blocks;
    double *sum;
    int64_t plane; /* elements of a plane of `sum` */
    int parts;     /* reals of an element */
    int single;
    struct hs_parity *parity;
};

static struct pass pass_of(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t blocks,
                           double *sum)
{
    const struct hs_view *view = part->view;
    return (struct pass){.scalar = scalar,
                         .part = part,
                         .blocks = blocks,
                         .sum = sum,
                         .plane = blocks * view->axis[hs_view_stored(view, 1)].n,
                         .parts = scalar->complex_type ? 2 : 1,
                         .single = hs_is_single(scalar)};
}

/* The address of the element at local row i and column j, counted from the part's first column. */
static const void *address(const struct pass *pass, int64_t i, int64_t j)
{
    const struct hs_matrix *matrix = &pass->part->matrix;
    return matrix->base + (size_t)(i + j * matrix->ld) * pass->scalar->size;
}

static int64_t global_of(const struct pass *pass, int axis, int64_t local)
{
    return hs_axis_global(&pass->part->view->axis[axis], pass->part->coord[axis], local);
}

static void add(const struct pass *pass, int64_t block, int64_t g, double re, double im, double size)
{
    double *sum = pass->sum + g * pass->blocks + block;
    sum[0] += re;
    if (pass->parts > 1)
        sum[pass->plane] += im;
    sum[pass->parts * pass->plane] += size;
}

/* op(X) is X: the rows of a block, times their weights, give a sum per column. */
static void over_rows(const struct pass *pass, int64_t begin, int64_t rows)
{
    double weight[COLUMN_PIECE];
    int64_t block[COLUMN_PIECE],
        end[COLUMN_PIECE]; /* of the local row; one past the last row of its block, at each first row */
    int64_t first = 0;
    const int parts = pass->parts;
    for (int64_t i = 0; i < rows; i++) {
        int64_t g = global_of(pass, 0, begin + i);
        block[i] = g / pass->height;
        first = i > 0 && block[i] == block[i - 1] ? first : i;
        end[first] = i + 1;
        for (int p = 0; p < parts; p++)
            weight[i * parts + p] = hs_checksum_weight(g);
    }
    for (int64_t j = 0; j < pass->part->cols; j++) {
        int64_t g = global_of(pass, 1, pass->part->first + j);
        for (int64_t i = 0; i < rows; i = end[i]) {
            double sum[3] = {0};
            (pass->single ? column_of_floats : column_of_doubles)((end[i] - i) * parts, address(pass, begin + i, j),
                                                                  weight + i * parts, parts, sum);
            add(pass, block[i], g, sum[0], sum[1], sum[2]);
        }
        if (pass->parity)
            hs_parity_add(pass->scalar, pass->part, begin, j, rows, 1, pass->parity);
    }
}

/* Adds the sums of a block's columns, a value per row. */
static void add_rows(const struct pass *pass, int64_t block, int64_t begin, int64_t rows, const double *sum,
                     const double *sizes)
{
    const double sign = pass->part->view->op == 'C' ? -1 : 1;
    for (int64_t i = 0; i < rows; i++) {
        int64_t g = global_of(pass, 0, begin + i);
        if (pass->parts == 1)
            add(pass, block, g, sum[i], 0, sizes[i]);
        else
            add(pass, block, g, sum[2 * i], sign * sum[2 * i + 1], sizes[2 * i] + sizes[2 * i + 1]);
    }
}

/* op(X) is X transposed: the columns of a block, times their weights, give a sum per row. */
static void over_columns(const struct pass *pass, int64_t begin, int64_t rows)
{
    double sum[COLUMN_PIECE], sizes[COLUMN_PIECE];
    const size_t bytes = (size_t)(rows * pass->parts) * sizeof *sum;
    int64_t before = -1;
    for (int64_t j = 0; j < pass->part->cols; j++) {
        int64_t g = global_of(pass, 1, pass->part->first + j), block = g / pass->height;
        if (block != before) {
            if (before >= 0)
                add_rows(pass, before, begin, rows, sum, sizes);
            memset(sum, 0, bytes);
            memset(sizes, 0, bytes);
        }
        (pass->single ? rows_of_floats : rows_of_doubles)(rows * pass->parts, address(pass, begin, j),
                                                          hs_checksum_weight(g), sum, sizes);
        if (pass->parity)
            hs_parity_add(pass->scalar, pass->part, begin, j, rows, 1, pass->parity);
        before = block;
    }
    if (before >= 0)
        add_rows(pass, before, begin, rows, sum, sizes);
}

void hs_checksum_add(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t height, int64_t blocks,
                     double *sum, struct hs_parity *parity)
{
    struct pass pass = pass_of(scalar, part, blocks, sum);
    pass.height = height;
    pass.parity = parity;
    const int64_t most = COLUMN_PIECE / pass.parts;
    for (int64_t begin = 0; begin < part->view->rows; begin += most)
        (part->view->op == 'N' ? over_rows : over_columns)(&pass, begin, hs_min(most, part->view->rows - begin));
}

/* Columns of a tile. */
static int64_t tile_of(int64_t blocks, size_t size)
{
    const int64_t width = hs_min(RESULT_TILE / blocks, FACTOR_TILE / (HS_CHECKSUM_DEPTH * (int64_t)size));
    return width < 16 ? 16 : width;
}

/* The arrays of a product's tile. */
struct tile {
    double *greatest; /* per block: the greatest size of its values */
    double *size;     /* per column of op(X): the sum of the sizes of its elements */
    double ones[2 * HS_CHECKSUM_DEPTH];
    char *values, *result; /* in the type: blocks x depth and blocks x width */
};

size_t hs_checksum_work(int64_t blocks)
{
    const size_t width = (size_t)tile_of(blocks, sizeof(float)), element = 2 * sizeof(double), height = (size_t)blocks;
    return (height + width) * sizeof(double) + height * (HS_CHECKSUM_DEPTH + width) * element;
}

/* Gathers the columns of `vectors` that belong to the rows [first, first + depth) of this process's op(X). */
static void gather(const struct pass *pass, const double *vectors, int64_t first, int64_t depth, struct tile *tile)
{
    const int axis = hs_view_stored(pass->part->view, 0);
    const int64_t blocks = pass->blocks, plane = blocks * pass->part->view->axis[axis].n;
    const double largest = pass->single ? FLT_MAX : DBL_MAX;
    memset(tile->greatest, 0, (size_t)blocks * sizeof *tile->greatest);
    for (int64_t l = 0; l < depth; l++) {
        const double *from = vectors + global_of(pass, axis, first + l) * blocks, *size = from + pass->parts * plane;
        char *to = tile->values + (size_t)(l * blocks) * pass->scalar->size;
        for (int p = 0; p < pass->parts; p++)
            (pass->single ? narrow_to_floats : narrow_to_doubles)(
                blocks, from + p * plane, to + (size_t)p * (pass->scalar->size / (size_t)pass->parts), pass->parts);
        for (int64_t b = 0; b < blocks; b++)
            if (!(size[b] <= tile->greatest[b]))
                tile->greatest[b] = size[b] <= largest ? size[b] : (double)INFINITY;
    }
}

/* Sums of the sizes of a tile of op(X) per column; x: its first element, as stored. */
static void take_sizes(const struct pass *pass, int64_t row, int64_t col, int64_t depth, int64_t width,
                       struct tile *tile)
{
    const int parts = pass->parts;
    double sum[3], sums[2 * 64], sizes[2 * 64];
    memset(tile->size, 0, (size_t)width * sizeof *tile->size);
    if (pass->part->view->op == 'N') {
        for (int64_t j = 0; j < width; j++) {
            memset(sum, 0, sizeof sum);
            (pass->single ? column_of_floats : column_of_doubles)(depth * parts, address(pass, row, col + j),
                                                                  tile->ones, parts, sum);
            tile->size[j] = sum[2];
        }
        return;
    }
    for (int64_t begin = 0, count; begin < width; begin += count) {
        count = hs_min(64, width - begin);
        memset(sums, 0, sizeof sums);
        memset(sizes, 0, sizeof sizes);
        for (int64_t l = 0; l < depth; l++)
            (pass->single ? rows_of_floats : rows_of_doubles)(count * parts, address(pass, row + begin, col + l), 1,
                                                              sums, sizes);
        for (int64_t t = 0; t < count * parts; t++)
            tile->size[begin + t / parts] += sizes[t];
    }
}

/* Adds a tile's result to the sums of the columns [first, first + width) of this process's op(X). */
static void add_tile(const struct pass *pass, int64_t first, int64_t width, const struct tile *tile)
{
    const int axis = hs_view_stored(pass->part->view, 1);
    const size_t real = pass->scalar->size / (size_t)pass->parts;
    for (int64_t j = 0; j < width; j++) {
        double *sum = pass->sum + global_of(pass, axis, first + j) * pass->blocks;
        const char *from = tile->result + (size_t)(j * pass->blocks) * pass->scalar->size;
        for (int p = 0; p < pass->parts; p++)
            (pass->single ? widen_floats : widen_doubles)(pass->blocks, from + (size_t)p * real, pass->parts,
                                                          sum + p * pass->plane);
        add_multiple(pass->blocks, tile->greatest, tile->size[j], sum + pass->parts * pass->plane);
    }
}

void hs_checksum_multiply(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t blocks,
                          const double *vectors, double *sum, struct hs_parity *parity, void *work)
{
    const struct pass pass = pass_of(scalar, part, blocks, sum);
    const struct hs_view *view = part->view;
    const int plain = view->op == 'N';
    const int64_t in = plain ? view->rows : part->cols, out = plain ? part->cols : view->rows;
    const int64_t in_first = plain ? 0 : part->first, out_first = plain ? part->first : 0,
                  most = tile_of(blocks, scalar->size);
    double *doubles = work;
    struct tile tile = {.greatest = doubles, .size = doubles + blocks, .values = (char *)(doubles + blocks + most)};
    tile.result = tile.values + (size_t)(blocks * HS_CHECKSUM_DEPTH) * scalar->size;
    for (int l = 0; l < 2 * HS_CHECKSUM_DEPTH; l++)
        tile.ones[l] = 1;
    for (int64_t j = 0, width; j < out; j += width) {
        width = hs_min(most, out - j);
        for (int64_t l = 0, depth; l < in; l += depth) {
            const int64_t row = plain ? l : j, col = plain ? j : l;
            depth = hs_min(HS_CHECKSUM_DEPTH, in - l);
            gather(&pass, vectors, in_first + l, depth, &tile);
            take_sizes(&pass, row, col, depth, width, &tile);
            scalar->gemm('N', view->op, blocks, width, depth, scalar->one, tile.values, blocks,
                         address(&pass, row, col), part->matrix.ld, scalar->zero, tile.result, blocks);
            if (parity)
                hs_parity_add(scalar, part, row, col, plain ? depth : width, plain ? width : depth, parity);
            add_tile(&pass, out_first + j, width, &tile);
        }
    }
}

double hs_checksum_bound(const struct hs_scalar *scalar, int64_t height, int64_t k, int processes, double terms,
                         double result)
{
    const double roundoff = 0x1p-53, adds = ((double)k + 8) * scalar->epsilon;
    const double product = adds * (terms + fmin(result, terms)) / 2 + (3 * scalar->epsilon + 2 * adds * adds) * terms;
    const double check = ((double)hs_min(k, HS_CHECKSUM_DEPTH) + 2) * scalar->epsilon +
                         ((double)k / 8 + 2 * (double)height + 4 * processes + 64) * roundoff;
    return 1.01 * (scalar->complex_type ? 4 : 1) * (product + check * terms);
}
