/* An arena divides one allocation into aligned pieces.  The code that takes the pieces runs twice: with base NULL to
 * compute the total size, then with memory. */
#ifndef HS_SUMMA_MESSAGES_ARENA_H
#define HS_SUMMA_MESSAGES_ARENA_H

#include "base/memory.h"

struct hs_arena {
    char *base;
    size_t used;
};

static inline void *hs_arena_take(struct hs_arena *arena, size_t bytes)
{
    char *piece = arena->base ? arena->base + arena->used : NULL;
    arena->used += hs_aligned(bytes);
    return piece;
}

#endif
