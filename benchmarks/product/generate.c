/* Generates matrices by counter-based hashing. */
#include "product/generate.h"

#include <math.h>

#include "base/hash.h"
#include "common/command.h"

static const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);

/* Each column is a stream of splitmix64, indexed by row. */
static uint64_t column_stream(uint64_t seed, int matrix, int64_t col)
{
    uint64_t h = hs_scrambled(seed + step * (uint64_t)matrix);

    return hs_scrambled(h + step * ((uint64_t)col + 1));
}

static uint64_t imaginary(uint64_t h)
{
    return hs_scrambled(h ^ UINT64_C(0xD1B54A32D192ED03));
}

/* A multiple of 2^-24 (single precision) or 2^-53 in [-0.5, 0.5), which is exact in its type. */
static double uniform(int single, uint64_t h)
{
    return single ? (double)(h >> 40) * 0x1p-24 - 0.5 : (double)(h >> 11) * 0x1p-53 - 0.5;
}

void generate_column(hsumma_type type, uint64_t seed, int matrix, const int64_t *row, int64_t rows, int64_t col,
                     double *re, double *im)
{
    uint64_t stream = column_stream(seed, matrix, col);
    int single = type_is_single(type);

    for (int64_t i = 0; i < rows; i++) {
        uint64_t h = hs_scrambled(stream + step * ((uint64_t)row[i] + 1));

        re[i] = uniform(single, h);
        if (im)
            im[i] = uniform(single, imaginary(h));
    }
}

void generate_entry(hsumma_type type, uint64_t seed, int matrix, int64_t row, int64_t col, double value[2])
{
    value[1] = 0;
    generate_column(type, seed, matrix, &row, 1, col, &value[0], type_is_complex(type) ? &value[1] : NULL);
}

/* Works in bands of rows, so that global indices are computed once, not once per column. */
void generate_local(hsumma_type type, uint64_t seed, int matrix, const hsumma_desc *desc, void *local)
{
    enum { BAND = 256 };
    int64_t rows = hsumma_local_rows(desc), cols = hsumma_local_cols(desc), row[BAND];
    int complex = type_is_complex(type);
    double re[BAND], im[BAND];

    for (int64_t first = 0; first < rows; first += BAND) {
        int64_t count = rows - first < BAND ? rows - first : BAND;

        for (int64_t i = 0; i < count; i++)
            row[i] = hsumma_global_row(desc, first + i);
        for (int64_t j = 0; j < cols; j++) {
            generate_column(type, seed, matrix, row, count, hsumma_global_col(desc, j), re, complex ? im : NULL);
            for (int64_t i = 0; i < count; i++) {
                int64_t at = (first + i + j * desc->ld) << complex;

                set_real(type, local, at, re[i]);
                if (complex)
                    set_real(type, local, at + 1, im[i]);
            }
        }
    }
}

void generate_nan(hsumma_type type, const hsumma_desc *desc, void *local)
{
    int64_t rows = hsumma_local_rows(desc), cols = hsumma_local_cols(desc);
    int complex = type_is_complex(type);

    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows << complex; i++)
            set_real(type, local, ((j * desc->ld) << complex) + i, NAN);
}

void generate_vector(uint64_t seed, int which, int64_t n, long double *x)
{
    uint64_t stream = column_stream(seed, 101 + which, 0);

    for (int64_t i = 0; i < n; i++) {
        uint64_t h = hs_scrambled(stream + step * ((uint64_t)i + 1));
        double magnitude = 0.5 + (double)(h >> 41) * 0x1p-24;

        x[i] = h & 1 ? -magnitude : magnitude;
    }
}
