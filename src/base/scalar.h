/* All that depends on the element type, one table row per type; the rest of the library moves bytes. */
#ifndef HS_BASE_SCALAR_H
#define HS_BASE_SCALAR_H

#include "base/compute.h"

#include <hsumma.h>

/* One element of any type. */
union hs_value {
    float s;
    double d;
    float _Complex c;
    double _Complex z;
};

/* dst = left op right over `bytes` bytes; dst may be left or right. */
typedef void hs_combine(void *dst, const void *left, const void *right, int64_t bytes, void *state);

/* The dimensions of a product: C is m x n, op(A) m x k, op(B) k x n. */
enum hs_dim { HS_M, HS_N, HS_K };

/* C = alpha op(A) op(B) + beta C, local to the process; beta = 0 never reads C.  Sizes are below 2^31. */
typedef void hs_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k, const void *alpha, const void *a,
                     int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);

struct hs_scalar {
    char letter; /* 's', 'd', 'c' or 'z' */
    hsumma_type type;
    size_t size;
    int complex_type;
    double epsilon; /* unit roundoff: 2^-24 or 2^-53 */

    hs_combine *add; /* its state argument is unused */
    hs_gemm *gemm;   /* the BLAS's, or that of summa/local/ordered.h */
    /* C = beta C + S for rows x cols; S = NULL stands for zero; beta = 0 never reads C. */
    void (*update)(int64_t rows, int64_t cols, const void *beta, void *c, int64_t ldc, const void *s, int64_t lds);
    int (*is_zero)(const void *value);
    const void *zero, *one;
    /* 1 if gemm adds the terms of k to C one by one in ascending order, so the product must, too (bits=anywhere). */
    int ordered;
    const struct hs_compute *compute; /* costs in a simulated run (compute.h); NULL on a real machine */
};

extern const struct hs_scalar hs_scalars[4];

/* Calls scalar->update. A simulated run charges its cost first, and skips the call if data have no contents. */
static inline void hs_update(const struct hs_scalar *scalar, int64_t rows, int64_t cols, const void *beta, void *c,
                             int64_t ldc, const void *s, int64_t lds)
{
    if (hs_compute_bytes(scalar->compute, HS_WORK_COPY, rows * cols * (int64_t)scalar->size))
        scalar->update(rows, cols, beta, c, ldc, s, lds);
}

/* Writes a scalar for messages: 2.5, or (2.5,-1) for complex types. value may be NULL. */
void hs_scalar_write(const struct hs_scalar *scalar, const void *value, char *text, size_t size);

/* Copies rows x cols elements of `size` bytes between two column-major arrays. */
void hs_copy_block(size_t size, int64_t rows, int64_t cols, void *dst, int64_t ldd, const void *src, int64_t lds);

#endif
