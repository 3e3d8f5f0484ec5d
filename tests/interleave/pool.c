#include "interleave/pool.h"

#include <stdalign.h>
#include <stdlib.h>

enum { POOL_ALIGN = 128 }; /* the alignment of directory entries */

/* The header before each allocation. */
struct piece {
    alignas(POOL_ALIGN) struct piece *before, *after;
};

static struct piece *newest;

static void *pool_get(void *state, size_t bytes)
{
    (void)state;
    struct piece *piece = aligned_alloc(POOL_ALIGN, sizeof *piece + (bytes + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN);
    if (!piece)
        return NULL;
    *piece = (struct piece){.before = newest};
    if (newest)
        newest->after = piece;
    newest = piece;
    return piece + 1;
}

static void pool_put(void *state, void *memory)
{
    (void)state;
    struct piece *piece = (struct piece *)memory - 1;
    if (piece->before)
        piece->before->after = piece->after;
    *(piece->after ? &piece->after->before : &newest) = piece->before;
    free(piece);
}

const struct hs_allocator case_pool = {pool_get, pool_put, NULL};

void case_pool_empty(void)
{
    while (newest)
        pool_put(NULL, newest + 1);
}
