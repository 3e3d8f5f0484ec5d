/* Test matrices of which some lie in memory of the library. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_LIBRARY_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_LIBRARY_H

#include "support/product/gemm_case.h"

struct gemm_placed {
    struct gemm_part local[3];
    void *memory[3]; /* from hsumma_malloc, or NULL */
    int moved;       /* which operands lie there */
};

/* Makes the matrices of a call. mask: operands in memory of hsumma_malloc; but: those of them that this process
 * allocates elsewhere; shift: their offset in that memory, in bytes. Returns 0 if memory is exhausted. */
int gemm_make_in_library(hsumma_context *ctx, const struct gemm_case *call, int mask, int but, size_t shift,
                         struct gemm_placed *placed);
void gemm_drop_in_library(hsumma_context *ctx, struct gemm_placed *placed);

#endif
