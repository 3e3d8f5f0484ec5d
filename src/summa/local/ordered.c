#include "summa/local/ordered.h"

#include "base/memory.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* Columns of A that are packed at a time, and bytes of a packed block of A, which lies on the stack. */
enum { DEPTH = 128, BLOCK_BYTES = 120 << 10 };

#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#define FMA(x, y, z) _Generic((x), float : fmaf, double : fma)(x, y, z)

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f")))
#define COLUMNS 8

#define NAME(x) x##_avx512_d
#define OP(x) _mm512_##x##_pd
#define REAL double
#define VECTOR __m512d
#include "summa/local/ordered.inc"

#define NAME(x) x##_avx512_s
#define OP(x) _mm512_##x##_ps
#define REAL float
#define VECTOR __m512
#include "summa/local/ordered.inc"

#undef TARGET
#undef COLUMNS
#define TARGET __attribute__((target("avx2,fma")))
#define COLUMNS 4

#define NAME(x) x##_avx2_d
#define OP(x) _mm256_##x##_pd
#define REAL double
#define VECTOR __m256d
#include "summa/local/ordered.inc"

#define NAME(x) x##_avx2_s
#define OP(x) _mm256_##x##_ps
#define REAL float
#define VECTOR __m256
#include "summa/local/ordered.inc"

#undef TARGET
#undef COLUMNS

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") > 0;
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") > 0 && __builtin_cpu_supports("fma") > 0;
}
#else
#define multiply_avx512_d multiply_any_d
#define multiply_avx512_s multiply_any_s
#define multiply_avx2_d multiply_any_d
#define multiply_avx2_s multiply_any_s

static int has_avx512(void)
{
    return 0;
}

static int has_avx2(void)
{
    return 0;
}
#endif

/* For other processors: vectors of four, which compilers turn into instructions where fma is one. */
enum { PORTABLE_LANES = 4 };

#define DEFINE_VECTOR(real, suffix)                                                                  \
    struct vector_##suffix {                                                                         \
        real at[PORTABLE_LANES];                                                                     \
    };                                                                                               \
    static struct vector_##suffix loadu_##suffix(const real *from)                                   \
    {                                                                                                \
        struct vector_##suffix vector;                                                               \
        memcpy(vector.at, from, sizeof vector.at);                                                   \
        return vector;                                                                               \
    }                                                                                                \
    static void storeu_##suffix(real *to, struct vector_##suffix vector)                             \
    {                                                                                                \
        memcpy(to, vector.at, sizeof vector.at);                                                     \
    }                                                                                                \
    static struct vector_##suffix set1_##suffix(real value)                                          \
    {                                                                                                \
        return (struct vector_##suffix){{value, value, value, value}};                               \
    }                                                                                                \
    static struct vector_##suffix fmadd_##suffix(struct vector_##suffix a, struct vector_##suffix b, \
                                                 struct vector_##suffix c)                           \
    {                                                                                                \
        for (int i = 0; i < PORTABLE_LANES; i++)                                                     \
            c.at[i] = FMA(a.at[i], b.at[i], c.at[i]);                                                \
        return c;                                                                                    \
    }

DEFINE_VECTOR(double, d)
DEFINE_VECTOR(float, s)

#define TARGET
#define COLUMNS 4

#define NAME(x) x##_any_d
#define OP(x) x##_d
#define REAL double
#define VECTOR struct vector_d
#include "summa/local/ordered.inc"

#define NAME(x) x##_any_s
#define OP(x) x##_s
#define REAL float
#define VECTOR struct vector_s
#include "summa/local/ordered.inc"

static int always(void)
{
    return 1;
}

const struct hs_ordered_kernel hs_ordered_kernels[HS_ORDERED_KERNELS] = {
    {"AVX-512", has_avx512, {multiply_avx512_d, multiply_avx512_s}},
    {"AVX2", has_avx2, {multiply_avx2_d, multiply_avx2_s}},
    {"portable", always, {multiply_any_d, multiply_any_s}},
};

static void get_alpha(hsumma_type type, const void *value, double alpha[2])
{
    union hs_value all = {0};
    memcpy(&all, value, hs_scalars[type].size);
    double _Complex z = type == HSUMMA_S ? all.s : type == HSUMMA_D ? all.d : type == HSUMMA_C ? all.c : all.z;
    alpha[0] = creal(z);
    alpha[1] = cimag(z);
}

static void multiply(hsumma_type type, const char op[2], const int64_t extent[3], const void *alpha, const void *a,
                     int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    const struct hs_scalar *scalar = &hs_scalars[type];
    const struct hs_ordered_kernel *kernel = hs_ordered_kernels;
    if (extent[HS_M] <= 0 || extent[HS_N] <= 0)
        return;
    scalar->update(extent[HS_M], extent[HS_N], beta, c, ldc, NULL, 0);
    if (extent[HS_K] <= 0 || scalar->is_zero(alpha))
        return;
    struct hs_ordered_product product = {
        .extent = {extent[HS_M], extent[HS_N], extent[HS_K]},
        .a = a,
        .b = b,
        .c = c,
        .a_stride = {op[0] == 'N' ? 1 : lda, op[0] == 'N' ? lda : 1},
        .b_stride = {op[1] == 'N' ? 1 : ldb, op[1] == 'N' ? ldb : 1},
        .ldc = ldc,
        .conjugate = {op[0] == 'C', op[1] == 'C'},
        .complex_type = scalar->complex_type,
    };
    get_alpha(type, alpha, product.alpha);
    while (!kernel->runs())
        kernel++;
    kernel->multiply[type == HSUMMA_S || type == HSUMMA_C](&product);
}

#define DEFINE_GEMM(letter, type)                                                                                    \
    static void gemm_##letter(char transa, char transb, int64_t m, int64_t n, int64_t k, const void *alpha,          \
                              const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,     \
                              int64_t ldc)                                                                           \
    {                                                                                                                \
        multiply(type, (const char[2]){transa, transb}, (const int64_t[3]){m, n, k}, alpha, a, lda, b, ldb, beta, c, \
                 ldc);                                                                                               \
    }

DEFINE_GEMM(s, HSUMMA_S)
DEFINE_GEMM(d, HSUMMA_D)
DEFINE_GEMM(c, HSUMMA_C)
DEFINE_GEMM(z, HSUMMA_Z)

void hs_scalar_order(struct hs_scalar *scalar)
{
    scalar->gemm = (hs_gemm *const[]){gemm_s, gemm_d, gemm_c, gemm_z}[scalar->type];
    scalar->ordered = 1;
}
