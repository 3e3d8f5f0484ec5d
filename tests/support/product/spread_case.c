#include "support/product/spread_case.h"

#include "support/entry.h"

#include <inttypes.h>
#include <math.h>

void spread_draw_grid(struct spread_matrix *matrix)
{
    int rows = 1 + draw(size), cols = 1 + draw(size / rows), all[SPREAD_RANKS];
    matrix->extent[0] = rows;
    matrix->extent[1] = cols;
    for (int i = 0; i < size; i++)
        all[i] = i;
    for (int i = 0; i < rows * cols; i++) {
        int other = i + draw(size - i), kept = all[i];
        matrix->ranks[i] = all[i] = all[other];
        all[other] = kept;
    }
}

void spread_draw_side(struct spread_side *side, int64_t length, int extent)
{
    int odd = draw(4);
    side->length = length;
    side->offset = draw(3) ? 0 : draw(20);
    side->extra = draw(3) ? 0 : draw(20);
    int64_t whole = side->offset + length + side->extra;
    side->block = odd == 0 ? 1 : odd == 1 && whole > 0 ? (whole + extent - 1) / extent : 1 + draw(17);
    side->first = draw(3) ? side->block : 1 + draw(25);
    side->source = draw(10) ? draw(extent) : -1;
}

/* The process that owns index g, found by counting blocks. */
static int owner_of(const struct spread_side *side, int extent, int64_t g)
{
    int owner = side->source;
    for (int64_t end = side->first; end <= g; end += side->block)
        owner = (owner + 1) % extent;
    return owner;
}

static double complex entry(const struct spread_matrix *matrix, int64_t i, int64_t j)
{
    uint64_t bits = hs_scrambled(matrix->seed ^ hs_scrambled((uint64_t)i * 1000003 + (uint64_t)j));
    double re = (double)(int64_t)bits * 0x1p-63, im = (double)(int64_t)hs_scrambled(bits) * 0x1p-63;
    if (!matrix->seed)
        return NAN;
    if (matrix->type == HSUMMA_S || matrix->type == HSUMMA_C) {
        re = (float)re;
        im = (float)im;
    }
    return matrix->type == HSUMMA_C || matrix->type == HSUMMA_Z ? re + im * I : re;
}

static int64_t total(const struct spread_side *side)
{
    return side->offset + side->length + side->extra;
}

void spread_make(struct spread_matrix *matrix)
{
    matrix->coord[0] = matrix->coord[1] = -1;
    for (int i = 0; i < matrix->extent[0] * matrix->extent[1]; i++)
        if (matrix->ranks[i] == rank) {
            matrix->coord[0] = i / matrix->extent[1];
            matrix->coord[1] = i % matrix->extent[1];
        }
    for (int a = 0; a < 2; a++) {
        const struct spread_side *side = &matrix->side[a];
        matrix->count[a] = 0;
        matrix->index[a] = calloc((size_t)total(side) + 1, sizeof *matrix->index[a]);
        for (int64_t g = 0; matrix->coord[0] >= 0 && g < total(side); g++)
            if (side->source < 0 || owner_of(side, matrix->extent[a], g) == matrix->coord[a])
                matrix->index[a][matrix->count[a]++] = g;
    }
    matrix->ld = (matrix->count[0] > 1 ? matrix->count[0] : 1) + matrix->pad;
    matrix->data = NULL;
    if (matrix->count[0] == 0 || matrix->count[1] == 0)
        return;
    matrix->data = malloc((size_t)(matrix->ld * matrix->count[1]) * gemm_element_size(matrix->type));
    for (int64_t c = 0; c < matrix->count[1]; c++)
        for (int64_t r = 0; r < matrix->ld; r++)
            gemm_store(matrix->type, matrix->data, r + c * matrix->ld,
                       r < matrix->count[0] ? entry(matrix, matrix->index[0][r], matrix->index[1][c]) : 77);
}

void spread_drop(struct spread_matrix *matrix)
{
    free(matrix->index[0]);
    free(matrix->index[1]);
    free(matrix->data);
}

hsumma_desc spread_desc(const struct spread_matrix *matrix, const hsumma_grid *grid)
{
    const struct spread_side *rows = &matrix->side[0], *cols = &matrix->side[1];
    return (hsumma_desc){.grid = grid,
                         .m = total(rows),
                         .n = total(cols),
                         .mb = rows->block,
                         .nb = cols->block,
                         .imb = rows->first,
                         .inb = cols->first,
                         .rsrc = rows->source,
                         .csrc = cols->source,
                         .i = rows->offset,
                         .j = cols->offset,
                         .ld = matrix->ld};
}

/* Rounds a value to the precision of the type. */
static double complex rounded(hsumma_type type, double complex value)
{
    if (type == HSUMMA_S || type == HSUMMA_C)
        return (float)creal(value) + (float)cimag(value) * I;
    return value;
}

static double complex wanted(const struct spread_matrix *target, double beta, const struct spread_matrix *source,
                             int sources, int64_t i, int64_t j)
{
    double complex sum = beta != 0 ? rounded(target->type, beta * entry(target, i, j)) : 0;
    int64_t at[2] = {i - target->side[0].offset, j - target->side[1].offset};
    for (int a = 0; a < 2; a++)
        if (at[a] < 0 || at[a] >= target->side[a].length)
            return entry(target, i, j);
    for (int s = 0; s < sources; s++)
        sum = rounded(target->type,
                      sum + entry(&source[s], at[0] + source[s].side[0].offset, at[1] + source[s].side[1].offset));
    return sum;
}

int64_t spread_wrong(const struct spread_matrix *target, double beta, const struct spread_matrix *source, int sources)
{
    int64_t wrong = 0;
    size_t element = gemm_element_size(target->type);
    for (int64_t c = 0; target->data && c < target->count[1]; c++)
        for (int64_t r = 0; r < target->ld; r++) {
            double complex value = r < target->count[0]
                                       ? wanted(target, beta, source, sources, target->index[0][r], target->index[1][c])
                                       : 77;
            char bytes[sizeof value];
            gemm_store(target->type, bytes, 0, value);
            wrong += memcmp(bytes, target->data + (size_t)(r + c * target->ld) * element, element) != 0;
        }
    return wrong;
}

void spread_print(const struct spread_matrix *matrix, const char *name)
{
    tap_diag("%s: %d x %d processes, the first is %d, ld + %d", name, matrix->extent[0], matrix->extent[1],
             matrix->ranks[0], matrix->pad);
    for (int a = 0; a < 2; a++) {
        const struct spread_side *side = &matrix->side[a];
        tap_diag("  %" PRId64 " + %" PRId64 " + %" PRId64 " in blocks of %" PRId64 ", first %" PRId64 ", source %d",
                 side->offset, side->length, side->extra, side->block, side->first, side->source);
    }
}
