/* Matrices of tests of which some lie in the library's memory. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_LIBRARY_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_LIBRARY_H

#include "support/product/gemm_case.h"

struct gemm_placed {
    struct gemm_part local[3];
    void *memory[3]; /* from hsumma_malloc, or NULL */
    int moved;       /* which of the operands lie there */
};

/* Makes the matrices of a call.  mask: operands for which all processes have such memory; but: those that this process
 * has elsewhere all the same; shift: where they begin in it, in bytes.  0: memory could not be had. */
int gemm_make_in_library(hsumma_context *ctx, const struct gemm_case *call, int mask, int but, size_t shift,
                         struct gemm_placed *placed);
void gemm_drop_in_library(hsumma_context *ctx, struct gemm_placed *placed);

#endif
