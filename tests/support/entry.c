#include "support/entry.h"

#include "base/scalar.h"

size_t gemm_element_size(hsumma_type type)
{
    return hs_scalars[type].size;
}

void gemm_store(hsumma_type type, void *at, int64_t index, double complex v)
{
    if (type == HSUMMA_S)
        ((float *)at)[index] = (float)creal(v);
    else if (type == HSUMMA_D)
        ((double *)at)[index] = creal(v);
    else if (type == HSUMMA_C)
        ((float complex *)at)[index] = (float complex)v;
    else
        ((double complex *)at)[index] = v;
}

double complex gemm_load(hsumma_type type, const void *at, int64_t index)
{
    return type == HSUMMA_S   ? ((const float *)at)[index]
           : type == HSUMMA_D ? ((const double *)at)[index]
           : type == HSUMMA_C ? ((const float complex *)at)[index]
                              : ((const double complex *)at)[index];
}
