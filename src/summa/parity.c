#include "summa/parity.h"

#include "summa/fast.h"

#include <string.h>

enum {
    PARITY_ROWS = 4096,
    PARITY_WORDS = 8
}; /* rows at a time, so that their parities stay in the cache; words at a time */
typedef int64_t parity_words __attribute__((vector_size(PARITY_WORDS * sizeof(int64_t))));

/* into[] ^= from[] */
static void fold(size_t bytes, unsigned char *into, const unsigned char *from)
{
    for (size_t b = 0; b < bytes; b++)
        into[b] ^= from[b];
}

/* Folds a column of elements into a parity per row and into one element, `into`. */
HS_FAST static void fold_column(size_t size, size_t bytes, const unsigned char *column, unsigned char *rows,
                                unsigned char *into)
{
    parity_words all = {0}, x, row;
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

void hs_parity_add(const struct hs_scalar *scalar, const struct hs_local_part *part, int64_t row, int64_t col,
                   int64_t rows, int64_t cols, struct hs_parity *parity)
{
    const struct hs_matrix *matrix = &part->matrix;
    size_t size = scalar->size;
    for (int64_t begin = row; begin < row + rows; begin += PARITY_ROWS) {
        size_t count = (size_t)hs_min(PARITY_ROWS, row + rows - begin);
        for (int64_t j = col; j < col + cols; j++)
            fold_column(size, count * size,
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
    int by_row = in_rows <= 1;
    if (in_rows == 0 || in_cols == 0 || (in_rows > 1 && in_cols > 1) || in_rows + in_cols > HS_FLIPS)
        return -1;
    const unsigned char *x = by_row ? before->cols : before->rows, *y = by_row ? after->cols : after->rows;
    unsigned char all[16] = {0};
    for (int64_t i = 0; i < (by_row ? cols : rows); i++) {
        struct hs_flip *one = &flip[count];
        if (memcmp(x + (size_t)i * size, y + (size_t)i * size, size) == 0)
            continue;
        *one = (struct hs_flip){.row = by_row ? row : i, .col = by_row ? i : col, .alone_in_column = by_row};
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
