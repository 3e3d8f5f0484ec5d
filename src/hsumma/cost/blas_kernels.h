/* The kernels that the BLAS has chosen for the processor, and what they change in the built-in profile. */
#ifndef HS_HSUMMA_COST_BLAS_KERNELS_H
#define HS_HSUMMA_COST_BLAS_KERNELS_H

#include "hsumma/cost/profile.h"

/* The vector extension of a processor or of kernels. */
enum hs_vectors { HS_VECTORS_UNKNOWN, HS_VECTORS_SSE, HS_VECTORS_AVX, HS_VECTORS_AVX2, HS_VECTORS_AVX512 };

struct hs_blas_kernels {
    char name[32]; /* as OpenBLAS and BLIS report it: mostly a processor's; "" if the BLAS reports nothing */
    enum hs_vectors vectors;
    int small; /* 1: they multiply small matrices without packing (struct hs_profile, unpacked) */
};

/* Sets the function pointer to which `function` points; returns 0 if neither the library of the GEMM nor one that it
 * needs has such a function.  Those of another BLAS in the process do not count. */
int hs_blas_find(const char *name, void *function);

struct hs_blas_kernels hs_blas_kernels(void);

/*
 * Sets profile->unpacked.  In the built-in profile also sets profile->crowded, and slows the GEMM, which was measured
 * with AVX-512, down to SSE or AVX kernels, which are then named in profile->source.
 */
void hs_profile_adapt(struct hs_profile *profile, const struct hs_blas_kernels *kernels, int crowded);

#endif
