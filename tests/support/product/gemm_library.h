/* Test matrices, some of which are in memory of hsumma_malloc. */
#ifndef HS_TESTS_SUPPORT_PRODUCT_GEMM_LIBRARY_H
#define HS_TESTS_SUPPORT_PRODUCT_GEMM_LIBRARY_H

#include "support/product/gemm_case.h"

struct gemm_placed {
    struct gemm_part local[3];
    void *memory[3]; /* memory of hsumma_malloc for the operand, or NULL */
    int moved;       /* mask of the operands in memory of hsumma_malloc */
};

/* Makes the matrices of a call. Bit x of `mask` puts operand x into memory of hsumma_malloc, `shift` bytes after its
 * start. Bit x of `but` makes this process nevertheless allocate its part of operand x elsewhere. Returns 0 if
 * hsumma_malloc fails. */
int gemm_make_in_library(hsumma_context *ctx, const struct gemm_case *call, int mask, int but, size_t shift,
                         struct gemm_placed *placed);
void gemm_drop_in_library(hsumma_context *ctx, struct gemm_placed *placed);

#endif
