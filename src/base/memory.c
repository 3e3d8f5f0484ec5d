#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef __has_feature
#if __has_feature(address_sanitizer) /* clang; gcc defines __SANITIZE_ADDRESS__ */
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static void *heap_get(void *state, size_t bytes)
{
    (void)state;
    void *memory = NULL;
    return posix_memalign(&memory, HS_ALIGN, bytes) == 0 ? memory : NULL;
}

static void heap_put(void *state, void *memory)
{
    (void)state;
    free(memory);
}

const struct hs_allocator hs_heap = {heap_get, heap_put, NULL};

void *hs_get(const struct hs_allocator *from, size_t count, size_t size)
{
    if (count == 0 || size == 0 || count > SIZE_MAX / size)
        return NULL;
    return from->get(from->state, count * size);
}

void *hs_get_zero(const struct hs_allocator *from, size_t count, size_t size)
{
    void *memory = hs_get(from, count, size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

int hs_grow(const struct hs_allocator *from, void **array, size_t size, size_t *capacity, size_t need)
{
    if (need <= *capacity)
        return 0;
    size_t larger = *capacity ? *capacity * 2 : 16;
    if (larger < need)
        larger = need;
    void *memory = hs_get(from, larger, size);
    if (!memory)
        return -1;
    if (*array)
        memcpy(memory, *array, *capacity * size);
    hs_put(from, *array);
    *array = memory;
    *capacity = larger;
    return 0;
}

void hs_put(const struct hs_allocator *to, void *memory)
{
    if (memory)
        to->put(to->state, memory);
}

void hs_keep(const void *memory)
{
#ifdef __SANITIZE_ADDRESS__
    if (memory)
        __lsan_ignore_object(memory);
#else
    (void)memory;
#endif
}
