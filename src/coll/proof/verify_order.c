/*
 * Part of verify: the pairs of accesses to the same elements that must be ordered. Every access must follow the
 * preceding write, and a write must also follow the reads since that write; the order of all other pairs that
 * conflict follows from these.
 */
#include "coll/proof/verify_parts.h"

hsumma_status hs_accessed_begin(struct hs_accessed *accessed, int64_t elements, const struct hs_allocator *memory)
{
    *accessed = (struct hs_accessed){.memory = memory};
    accessed->writer = hs_get(memory, (size_t)elements + 1, 2 * sizeof *accessed->writer);
    accessed->reader = accessed->writer ? accessed->writer + elements : NULL;
    return accessed->writer ? HSUMMA_OK : HSUMMA_ERR_MEMORY;
}

void hs_accessed_end(struct hs_accessed *accessed)
{
    hs_put(accessed->memory, accessed->writer);
    hs_put(accessed->memory, accessed->reading);
}

void hs_accessed_clear(struct hs_accessed *accessed, int64_t elements)
{
    accessed->readings = 0;
    for (int64_t e = 0; e < elements; e++)
        accessed->writer[e] = accessed->reader[e] = -1;
}

static hsumma_status keep_reading(struct hs_accessed *accessed, int access, int64_t element)
{
    void *array = accessed->reading;
    if (accessed->readings >= INT32_MAX || hs_grow(accessed->memory, &array, sizeof *accessed->reading,
                                                   &accessed->reading_capacity, accessed->readings + 1))
        return HSUMMA_ERR_MEMORY;
    accessed->reading = array;
    accessed->reading[accessed->readings] = (struct hs_reading){access, accessed->reader[element]};
    accessed->reader[element] = (int)accessed->readings++;
    return HSUMMA_OK;
}

hsumma_status hs_accessed_add(struct hs_accessed *accessed, int access, int writes, int64_t first, int64_t end,
                              hs_check_order *check, void *state)
{
    hsumma_status status = HSUMMA_OK;
    for (int64_t e = first; e < end && !status; e++) {
        if (accessed->writer[e] >= 0)
            status = check(state, access, accessed->writer[e]);
        if (!writes) {
            status = status ? status : keep_reading(accessed, access, e);
            continue;
        }
        for (int r = accessed->reader[e]; r >= 0 && !status; r = accessed->reading[r].next)
            status = check(state, access, accessed->reading[r].access);
        accessed->writer[e] = access;
        accessed->reader[e] = -1;
    }
    return status;
}
