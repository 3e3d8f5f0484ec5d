#include "support/product/gemm_library.h"

int gemm_make_in_library(hsumma_context *ctx, const struct gemm_case *call, int mask, int but, size_t shift,
                         struct gemm_placed *placed)
{
    int good = 1;
    *placed = (struct gemm_placed){.moved = 0};
    gemm_make(call, placed->local);
    for (int x = 0; x < 3; x++) {
        struct gemm_part *part = &placed->local[x];
        if (!(mask >> x & 1))
            continue;
        good &= hsumma_malloc(ctx, part->bytes + shift, &placed->memory[x]) == HSUMMA_OK;
        if (!part->data || but >> x & 1 || !placed->memory[x])
            continue;
        memcpy((char *)placed->memory[x] + shift, part->data, part->bytes);
        free(part->data);
        part->data = (char *)placed->memory[x] + shift;
        placed->moved |= 1 << x;
    }
    return good;
}

void gemm_drop_in_library(hsumma_context *ctx, struct gemm_placed *placed)
{
    for (int x = 0; x < 3; x++) {
        if (placed->moved >> x & 1)
            placed->local[x].data = NULL;
        hsumma_mfree(ctx, placed->memory[x]);
    }
    gemm_drop(placed->local);
}
