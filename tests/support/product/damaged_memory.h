/*
 * Damages what functions of the library have just put into shared memory for other processes, and taken the CRC of. The
 * linker puts the functions of damaged_memory.c around them (--wrap; the Makefile names the programs).
 */
#ifndef HS_TESTS_SUPPORT_PRODUCT_DAMAGED_MEMORY_H
#define HS_TESTS_SUPPORT_PRODUCT_DAMAGED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Called for each such piece of data; if it returns 1, a bit is flipped, which *bits chooses.  NULL: none is. */
extern int (*damaged_memory_due)(uint64_t *bits);

/* Flips a bit of a matrix of elements of `unit` bytes. */
void damaged_memory_flip(void *matrix, int64_t rows, int64_t cols, int64_t ld, size_t unit, uint64_t bits);

#endif
