/* Memory comes from an allocator that the context carries, so that a test or a simulator can supply its own. */
#ifndef HS_BASE_MEMORY_H
#define HS_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct hs_allocator {
    void *(*get)(void *state, size_t bytes); /* aligned to HS_ALIGN; NULL on failure */
    void (*put)(void *state, void *memory);
    void *state;
};

enum { HS_ALIGN = 64, HS_CACHE_LINE = 64, HS_PAGE = 4096 };

/* The C library's memory. */
extern const struct hs_allocator hs_heap;

/* count * size bytes; NULL on failure, on overflow of the product, and for 0 bytes. */
void *hs_get(const struct hs_allocator *from, size_t count, size_t size);
/* Like hs_get, filled with zeros. */
void *hs_get_zero(const struct hs_allocator *from, size_t count, size_t size);
/* Makes room for `need` elements; *capacity at least doubles if it grows.  Returns 0; or -1, and changes nothing. */
int hs_grow(const struct hs_allocator *from, void **array, size_t size, size_t *capacity, size_t need);
/* Frees memory; ignores NULL. */
void hs_put(const struct hs_allocator *to, void *memory);
/* Tells LeakSanitizer that memory, and what it points to, is kept on purpose: MPI may access it after an error. */
void hs_keep(const void *memory);

static inline int64_t hs_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* a * b * c bytes, for factors that are not negative.  Saturates at 2^58, more than any machine has; a few such values
 * can be added without overflow. */
static inline int64_t hs_bytes_of(int64_t a, int64_t b, int64_t c)
{
    const int64_t most = (int64_t)1 << 58;
    int64_t bytes;
    if (__builtin_mul_overflow(a, b, &bytes) || __builtin_mul_overflow(bytes, c, &bytes) || bytes > most)
        return most;
    return bytes;
}

/* Rounds up to a multiple of HS_ALIGN. */
static inline size_t hs_aligned(size_t bytes)
{
    return (bytes + HS_ALIGN - 1) / HS_ALIGN * HS_ALIGN;
}
/* An arena divides one allocation into aligned pieces.  The code that takes the pieces runs twice: with base NULL to
 * compute the total size, then with memory. */
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
/* Rounds up to whole pages. */
static inline int64_t hs_in_pages(int64_t bytes)
{
    return (bytes + HS_PAGE - 1) / HS_PAGE * HS_PAGE;
}

#endif
