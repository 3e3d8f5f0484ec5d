/* Hashes and random numbers without cryptographic strength. */
#ifndef HS_BASE_HASH_H
#define HS_BASE_HASH_H

#include <stdint.h>

/* Adds a value to the hash of a sequence. */
static inline uint64_t hs_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* The finalizer of splitmix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t hs_scrambled(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

/* The next number of splitmix64; any initial state will do. */
static inline uint64_t hs_random(uint64_t *state)
{
    return hs_scrambled(*state += 0x9e3779b97f4a7c15u);
}

#endif
