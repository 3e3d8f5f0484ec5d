#include "support/failing_memory.h"

void *failing_memory_get(void *state, size_t bytes)
{
    struct failing_memory *scarce = state;
    int64_t call = scarce->calls++;
    if (scarce->fail_at >= 0 && (call == scarce->fail_at || (scarce->for_good && call > scarce->fail_at)))
        return NULL;
    scarce->out++;
    return hs_heap.get(hs_heap.state, bytes);
}

void failing_memory_put(void *state, void *memory)
{
    ((struct failing_memory *)state)->out--;
    hs_heap.put(hs_heap.state, memory);
}
