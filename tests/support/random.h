/*
 * The tests' random generator (splitmix64). A program has one sequence, which draw_seed starts; code that needs
 * another sequence keeps its own 64-bit state for draw_of and hs_random.
 */
#ifndef HS_TESTS_SUPPORT_RANDOM_H
#define HS_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

#include "base/hash.h"

void draw_seed(uint64_t seed);
uint64_t draw_bits(void);

/* A random integer from 0 to below - 1. */
int draw(int below);
int draw_of(uint64_t *state, int below);

/* A random divisor of a positive number. */
int draw_divisor(int of);

/* A random number from 0 up to, but not including, 1. */
double draw_fraction(void);

#endif
