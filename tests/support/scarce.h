/* Memory that fails at one call, or from it on, and knows how many blocks are out. */
#ifndef HS_TESTS_SUPPORT_SCARCE_H
#define HS_TESTS_SUPPORT_SCARCE_H

#include "base/memory.h"

struct scarce {
    int64_t calls, fail_at, out; /* fail_at: the number of a call, from 0 on; negative: none */
    int for_good;
};

static inline void *scarce_get(void *state, size_t bytes)
{
    struct scarce *scarce = state;
    int64_t call = scarce->calls++;
    if (scarce->fail_at >= 0 && (call == scarce->fail_at || (scarce->for_good && call > scarce->fail_at)))
        return NULL;
    scarce->out++;
    return hs_heap.get(hs_heap.state, bytes);
}

static inline void scarce_put(void *state, void *memory)
{
    ((struct scarce *)state)->out--;
    hs_heap.put(hs_heap.state, memory);
}

#endif
