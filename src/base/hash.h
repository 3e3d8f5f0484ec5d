/* A hash of a sequence of numbers: good enough to tell arguments apart, and no more. */
#ifndef HS_BASE_HASH_H
#define HS_BASE_HASH_H

#include <stdint.h>

static inline uint64_t hs_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

#endif
