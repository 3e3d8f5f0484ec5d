#include "check/moved.h"

#include <math.h>
#include <string.h>

#include "common/command.h"
#include "product/generate.h"

int64_t check_moved(hsumma_type type, uint64_t seed, int64_t m, int64_t n, const hsumma_desc *a, const hsumma_desc *b,
                    const void *local)
{
    int64_t wrong = 0;

    for (int64_t c = 0; local && c < hsumma_local_cols(b); c++)
        for (int64_t r = 0; r < hsumma_local_rows(b); r++) {
            int64_t i = hsumma_global_row(b, r) - b->i, j = hsumma_global_col(b, c) - b->j;
            const char *at = (const char *)local + (size_t)(r + c * b->ld) * type_size(type);
            double value[2] = {0, 0};
            double want[2];

            if (i < 0 || i >= m || j < 0 || j >= n) {
                wrong += !isnan(real_at(type, at, 0));
                continue;
            }
            generate_entry(type, seed, MATRIX_A, i + a->i, j + a->j, value);
            store_scalar(type, value, want);
            wrong += memcmp(want, at, type_size(type)) != 0;
        }
    return wrong;
}
