#include "summa/checksum.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

/* Reals of a column in a block of rows: long runs in memory, while the factors or sums of a block stay in the cache. */
enum { REALS = 4096, LANES = 2, SUMS_AT_ONCE = 4 };

double hs_checksum_weight(int64_t i)
{
    return 1 + (double)(hs_scrambled((uint64_t)i + 1) >> 12) * 0x1p-52;
}

/* Vectors of numbers, for compilers that do not vectorise sums by themselves. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t bits_of_lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef float half_lanes __attribute__((vector_size(LANES * sizeof(float))));

static inline lanes load(const double *from)
{
    lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}

static inline lanes load_doubles(const void *from)
{
    return load(from);
}

static inline lanes load_floats(const void *from)
{
    half_lanes x;
    memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x, lanes);
}

static inline lanes magnitude(lanes x)
{
    return (lanes)((bits_of_lanes)x & INT64_MAX);
}

static inline void add_to(double *sum, lanes x)
{
    x += load(sum);
    memcpy(sum, &x, sizeof x);
}

/*
 * COLUMN: sums over one column of a block: sum[0] += by[0] x, sum[1] += by[1] x, sum[2] += by[2] |x|; by[]: vectors.
 * ROWS: adds the column times factors to sums over columns: sum[0][] += by[0] x, and so on; by[]: numbers.
 * parts: 1 for real types, which do not use by[1] and sum[1]; otherwise 2.
 */
#define KERNELS(real)                                                                                        \
    static void column_of_##real##s(int64_t count, const void *column, const double *const by[3], int parts, \
                                    double sum[3])                                                           \
    {                                                                                                        \
        const real *x = column;                                                                              \
        lanes total[3][SUMS_AT_ONCE] = {{{0}}};                                                              \
        int64_t t = 0;                                                                                       \
        for (; t + SUMS_AT_ONCE * LANES <= count; t += SUMS_AT_ONCE * LANES) {                               \
            _Pragma("GCC unroll 4") for (int c = 0; c < SUMS_AT_ONCE; c++)                                   \
            {                                                                                                \
                const int64_t at = t + c * LANES;                                                            \
                const lanes now = load_##real##s(x + at);                                                    \
                total[0][c] += load(by[0] + at) * now;                                                       \
                total[2][c] += load(by[2] + at) * magnitude(now);                                            \
                if (parts > 1)                                                                               \
                    total[1][c] += load(by[1] + at) * now;                                                   \
            }                                                                                                \
        }                                                                                                    \
        for (; t < count; t++) {                                                                             \
            sum[0] += by[0][t] * (double)x[t];                                                               \
            sum[1] += parts > 1 ? by[1][t] * (double)x[t] : 0;                                               \
            sum[2] += by[2][t] * fabs((double)x[t]);                                                         \
        }                                                                                                    \
        for (int s = 0; s < 3; s++)                                                                          \
            for (int l = 0; l < SUMS_AT_ONCE * LANES; l++)                                                   \
                sum[s] += total[s][l / LANES][l % LANES];                                                    \
    }                                                                                                        \
    static void rows_of_##real##s(int64_t count, const void *column, const double by[3], int parts,          \
                                  double(*sum)[REALS])                                                       \
    {                                                                                                        \
        const real *x = column;                                                                              \
        int64_t t = 0;                                                                                       \
        for (; t + LANES <= count; t += LANES) {                                                             \
            const lanes now = load_##real##s(x + t);                                                         \
            add_to(sum[0] + t, by[0] * now);                                                                 \
            add_to(sum[2] + t, by[2] * magnitude(now));                                                      \
            if (parts > 1)                                                                                   \
                add_to(sum[1] + t, by[1] * now);                                                             \
        }                                                                                                    \
        for (; t < count; t++) {                                                                             \
            sum[0][t] += by[0] * (double)x[t];                                                               \
            sum[1][t] += parts > 1 ? by[1] * (double)x[t] : 0;                                               \
            sum[2][t] += by[2] * fabs((double)x[t]);                                                         \
        }                                                                                                    \
    }

KERNELS(float)
KERNELS(double)

/* Reads element g of a vector, the weights if it is NULL: real part, imaginary part and bound. */
static void element(const struct hs_scalar *scalar, const double *vector, int64_t count, int64_t g, double value[3])
{
    int planes = hs_checksum_planes(scalar);
    if (!vector)
        value[0] = value[2] = hs_checksum_weight(g);
    else
        value[0] = vector[g], value[2] = vector[(planes - 1) * count + g];
    value[1] = vector && planes > 2 ? vector[count + g] : 0;
}

/* One call: the part, and the lengths of both vectors. */
struct pass {
    const struct hs_scalar *scalar;
    const struct hs_local_part *part;
    const double *vector;
    double *sum;
    int64_t in, out;
    int parts, single, conjugate; /* parts: reals of an element */
};

/* The address of column j of the block that begins at row i. */
static const void *column_at(const struct pass *pass, int64_t i, int64_t j)
{
    const struct hs_matrix *matrix = &pass->part->matrix;
    return matrix->base + (size_t)(i + j * matrix->ld) * pass->scalar->size;
}

static int64_t global_of(const struct pass *pass, int axis, int64_t local)
{
    return hs_axis_global(&pass->part->view->axis[axis], pass->part->coord[axis], local);
}

static void add(const struct pass *pass, int64_t g, double re, double im, double bound)
{
    pass->sum[g] += re;
    if (pass->parts > 1)
        pass->sum[pass->out + g] += im;
    pass->sum[pass->parts * pass->out + g] += bound;
}

/* op(X) is X: a block of rows times the vector's elements gives a sum per column. */
static void over_rows(const struct pass *pass, int64_t begin, int64_t rows)
{
    double factor[3][REALS], value[3];
    const double *const by[3] = {factor[0], factor[1], factor[2]};
    for (int64_t i = 0; i < rows; i++) {
        element(pass->scalar, pass->vector, pass->in, global_of(pass, 0, begin + i), value);
        if (pass->parts == 1) {
            factor[0][i] = value[0], factor[2][i] = value[2];
        } else {
            factor[0][2 * i] = value[0], factor[0][2 * i + 1] = -value[1];
            factor[1][2 * i] = value[1], factor[1][2 * i + 1] = value[0];
            factor[2][2 * i] = factor[2][2 * i + 1] = value[2];
        }
    }
    for (int64_t j = 0; j < pass->part->cols; j++) {
        double sum[3] = {0};
        (pass->single ? column_of_floats : column_of_doubles)(rows * pass->parts, column_at(pass, begin, j), by,
                                                              pass->parts, sum);
        add(pass, global_of(pass, 1, pass->part->first + j), sum[0], sum[1], sum[2]);
    }
}

/* op(X) is X transposed: each column times its element of the vector gives sums per row. */
static void over_columns(const struct pass *pass, int64_t begin, int64_t rows)
{
    double sum[3][REALS], value[3];
    const double sign = pass->conjugate ? -1 : 1;
    memset(sum, 0, sizeof sum);
    for (int64_t j = 0; j < pass->part->cols; j++) {
        element(pass->scalar, pass->vector, pass->in, global_of(pass, 1, pass->part->first + j), value);
        (pass->single ? rows_of_floats : rows_of_doubles)(rows * pass->parts, column_at(pass, begin, j), value,
                                                          pass->parts, sum);
    }
    for (int64_t i = 0; i < rows; i++) {
        int64_t g = global_of(pass, 0, begin + i);
        if (pass->parts == 1)
            add(pass, g, sum[0][i], 0, sum[2][i]);
        else
            add(pass, g, sum[0][2 * i] - sign * sum[1][2 * i + 1], sum[1][2 * i] + sign * sum[0][2 * i + 1],
                sum[2][2 * i] + sum[2][2 * i + 1]);
    }
}

void hs_checksum_add(const struct hs_scalar *scalar, const struct hs_local_part *part, const double *vector,
                     double *sum)
{
    const struct hs_view *view = part->view;
    const struct pass pass = {.scalar = scalar,
                              .part = part,
                              .vector = vector,
                              .sum = sum,
                              .in = view->axis[hs_view_stored(view, 0)].n,
                              .out = view->axis[hs_view_stored(view, 1)].n,
                              .parts = scalar->complex_type ? 2 : 1,
                              .single = hs_is_single(scalar),
                              .conjugate = view->op == 'C'};
    const int64_t block = REALS / pass.parts;
    for (int64_t begin = 0; begin < view->rows; begin += block)
        (view->op == 'N' ? over_rows : over_columns)(&pass, begin, hs_min(block, view->rows - begin));
}

/* into[] ^= from[] */
static void fold(size_t bytes, unsigned char *into, const unsigned char *from)
{
    for (size_t b = 0; b < bytes; b++)
        into[b] ^= from[b];
}

/* Folds a column of elements into a parity per row and into one element, `into`. */
static void fold_column(size_t size, size_t bytes, const unsigned char *column, unsigned char *rows,
                        unsigned char *into)
{
    bits_of_lanes all = {0}, x, row;
    size_t b = 0;
    for (; b + sizeof x <= bytes; b += sizeof x) {
        memcpy(&x, column + b, sizeof x);
        memcpy(&row, rows + b, sizeof row);
        row ^= x;
        all ^= x;
        memcpy(rows + b, &row, sizeof row);
    }
    unsigned char folded[sizeof all];
    memcpy(folded, &all, sizeof all);
    for (size_t i = 0; i < sizeof all; i += size)
        fold(size, into, folded + i);
    fold(bytes - b, rows + b, column + b);
    for (; b < bytes; b += size)
        fold(size, into, column + b);
}

void hs_parity_add(const struct hs_scalar *scalar, const struct hs_local_part *part, struct hs_parity *parity)
{
    const struct hs_matrix *matrix = &part->matrix;
    size_t size = scalar->size;
    for (int64_t begin = 0; begin < part->view->rows; begin += REALS) {
        size_t rows = (size_t)hs_min(REALS, part->view->rows - begin);
        for (int64_t j = 0; j < part->cols; j++)
            fold_column(size, rows * size,
                        (const unsigned char *)matrix->base + (size_t)(begin + j * matrix->ld) * size,
                        parity->rows + (size_t)begin * size, parity->cols + (size_t)(part->first + j) * size);
    }
}

/* The number of elements in which two arrays differ, and the first of them. */
static int64_t differing(size_t size, int64_t count, const unsigned char *x, const unsigned char *y, int64_t *first)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        if (memcmp(x + (size_t)i * size, y + (size_t)i * size, size) != 0 && found++ == 0)
            *first = i;
    return found;
}

int hs_parity_compare(const struct hs_scalar *scalar, int64_t rows, int64_t cols, const struct hs_parity *before,
                      const struct hs_parity *after, struct hs_flip flip[HS_FLIPS])
{
    size_t size = scalar->size;
    int64_t row = 0, col = 0, count = 0;
    int64_t in_rows = differing(size, rows, before->rows, after->rows, &row);
    int64_t in_cols = differing(size, cols, before->cols, after->cols, &col);
    if (in_rows == 0 && in_cols == 0)
        return 0;
    /* changes in one row show themselves in the columns' parities, and the reverse */
    int by_row = in_rows <= 1, along = by_row ? 1 : 0;
    if (in_rows == 0 || in_cols == 0 || (in_rows > 1 && in_cols > 1) || in_rows + in_cols > HS_FLIPS)
        return -1;
    const unsigned char *x = by_row ? before->cols : before->rows, *y = by_row ? after->cols : after->rows;
    unsigned char all[16] = {0};
    for (int64_t i = 0; i < (along ? cols : rows); i++) {
        struct hs_flip *one = &flip[count];
        if (memcmp(x + (size_t)i * size, y + (size_t)i * size, size) == 0)
            continue;
        *one = (struct hs_flip){.row = along ? row : i, .col = along ? i : col};
        memcpy(one->bits, x + (size_t)i * size, size);
        fold(size, one->bits, y + (size_t)i * size);
        fold(size, all, one->bits);
        count++;
    }
    /* the changes together must explain the parity of their common row or column */
    const unsigned char *u = by_row ? before->rows : before->cols, *v = by_row ? after->rows : after->cols;
    size_t at = (size_t)(by_row ? row : col) * size;
    fold(size, all, u + at);
    fold(size, all, v + at);
    static const unsigned char none[16];
    return memcmp(all, none, size) == 0 ? (int)count : -1;
}
