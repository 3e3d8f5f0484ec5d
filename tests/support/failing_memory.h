/* An allocator that fails at call fail_at (for_good: and at all later calls) and counts the blocks in use. */
#ifndef HS_TESTS_SUPPORT_FAILING_MEMORY_H
#define HS_TESTS_SUPPORT_FAILING_MEMORY_H

#include "base/memory.h"

struct failing_memory {
    int64_t calls, fail_at, out; /* fail_at: counted from 0; negative: never; out: blocks in use */
    int for_good;
};

void *failing_memory_get(void *state, size_t bytes);
void failing_memory_put(void *state, void *memory);

#endif
