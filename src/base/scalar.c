#include "base/operators.h"

#include <cblas.h>
#include <complex.h>
#include <stdio.h>
#include <string.h>

/* An int, because the name of the enum's type depends on the CBLAS: BLIS has a tag only, older reference versions a
 * typedef only. */
static int cblas_op(char trans)
{
    return trans == 'N' ? CblasNoTrans : trans == 'T' ? CblasTrans : CblasConjTrans;
}

#define NAME(x) x##s
#define SCALAR float
#define CBLAS_GEMM cblas_sgemm
#define BY_VALUE *(const SCALAR *)
#include "base/scalar.inc"

#define NAME(x) x##d
#define SCALAR double
#define CBLAS_GEMM cblas_dgemm
#define BY_VALUE *(const SCALAR *)
#include "base/scalar.inc"

#define NAME(x) x##c
#define SCALAR float complex
#define CBLAS_GEMM cblas_cgemm
#define BY_VALUE
#include "base/scalar.inc"

#define NAME(x) x##z
#define SCALAR double complex
#define CBLAS_GEMM cblas_zgemm
#define BY_VALUE
#include "base/scalar.inc"

const struct hs_scalar hs_scalars[4] = {
    {'s', HSUMMA_S, sizeof(float), 0, 0x1p-24, hs_sum_float, gemm_s, update_s, is_zero_s, &zero_s, &one_s, 0, NULL},
    {'d', HSUMMA_D, sizeof(double), 0, 0x1p-53, hs_sum_double, gemm_d, update_d, is_zero_d, &zero_d, &one_d, 0, NULL},
    {'c', HSUMMA_C, sizeof(float complex), 1, 0x1p-24, hs_sum_float, gemm_c, update_c, is_zero_c, &zero_c, &one_c, 0,
     NULL},
    {'z', HSUMMA_Z, sizeof(double complex), 1, 0x1p-53, hs_sum_double, gemm_z, update_z, is_zero_z, &zero_z, &one_z, 0,
     NULL},
};

void hs_scalar_write(const struct hs_scalar *scalar, const void *value, char *text, size_t size)
{
    const int parts = scalar->complex_type ? 2 : 1, is_float = scalar->size / (size_t)parts == sizeof(float);
    double part[2] = {0, 0};
    for (int i = 0; value && i < parts; i++)
        part[i] = is_float ? ((const float *)value)[i] : ((const double *)value)[i];
    if (!value)
        snprintf(text, size, "NULL");
    else
        snprintf(text, size, parts == 2 ? "(%.*g,%.*g)" : "%.*g", is_float ? 9 : 17, part[0], is_float ? 9 : 17,
                 part[1]);
}

void hs_copy_block(size_t size, int64_t rows, int64_t cols, void *dst, int64_t ldd, const void *src, int64_t lds)
{
    if (rows <= 0 || cols <= 0)
        return;
    size_t run = (size_t)rows * size;
    if (ldd == rows && lds == rows) {
        memcpy(dst, src, run * (size_t)cols);
        return;
    }
    for (int64_t j = 0; j < cols; j++)
        memcpy((char *)dst + (size_t)(j * ldd) * size, (const char *)src + (size_t)(j * lds) * size, run);
}
