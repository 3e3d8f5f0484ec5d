/* Hashes, checksums of messages and random numbers, without cryptographic strength. */
#ifndef HS_BASE_HASH_H
#define HS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Adds a value to the hash of a sequence. */
static inline uint64_t hs_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* Adds the characters of a text. */
static inline uint64_t hs_mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = hs_mix(hash, (unsigned char)*text);
    return hash;
}

/* Adds bytes. */
static inline uint64_t hs_mix_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = hs_mix(hash, ((const unsigned char *)bytes)[i]);
    return hash;
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

/*
 * CRC32C (Castagnoli), which finds every change of up to three bits, and of up to 32 consecutive ones, in a message
 * below 256 MiB. This continues with four bits at a time, for processors without an instruction.
 */
static inline uint32_t hs_crc32c_portable(uint32_t crc, const unsigned char *bytes, size_t count)
{
    static const uint32_t of_half[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                         0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                         0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ of_half[crc & 15];
        crc = crc >> 4 ^ of_half[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2"))) static inline uint32_t hs_crc32c_sse42(uint32_t crc, const unsigned char *bytes,
                                                                         size_t count)
{
    uint64_t wide = crc, word;
    size_t i = 0;
    for (; i + sizeof word <= count; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; i < count; i++)
        crc = __builtin_ia32_crc32qi(crc, bytes[i]);
    return crc;
}
#endif

/* The CRC32C of bytes whose first part has the CRC32C `before` (0 if there is none), and `data` is the rest. */
static inline uint32_t hs_crc32c_after(uint32_t before, const void *data, size_t count)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~hs_crc32c_sse42(~before, data, count);
#endif
    return ~hs_crc32c_portable(~before, data, count);
}

static inline uint32_t hs_crc32c(const void *data, size_t count)
{
    return hs_crc32c_after(0, data, count);
}

#endif
