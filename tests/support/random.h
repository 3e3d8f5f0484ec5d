/*
 * The tests' random generator (splitmix64).  A program has one sequence of its own, which draw_seed begins; whatever
 * needs a second one keeps its 64-bit state and calls the functions that end in _of.
 */
#ifndef HS_TESTS_SUPPORT_RANDOM_H
#define HS_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* A number that depends on all bits of another one. */
uint64_t scrambled(uint64_t bits);
void draw_seed(uint64_t seed);
uint64_t draw_bits(void);
uint64_t draw_bits_of(uint64_t *state);

/* From 0 to below - 1. */
int draw(int below);
int draw_of(uint64_t *state, int below);

/* From 0 to below 1. */
double draw_fraction(void);

#endif
