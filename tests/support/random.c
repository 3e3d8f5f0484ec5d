#include "support/random.h"

static uint64_t program_state;

uint64_t scrambled(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

void draw_seed(uint64_t seed)
{
    program_state = seed;
}

uint64_t draw_bits_of(uint64_t *state)
{
    return scrambled(*state += 0x9e3779b97f4a7c15u);
}

uint64_t draw_bits(void)
{
    return draw_bits_of(&program_state);
}

int draw_of(uint64_t *state, int below)
{
    return (int)(draw_bits_of(state) % (uint64_t)below);
}

int draw(int below)
{
    return draw_of(&program_state, below);
}

double draw_fraction(void)
{
    return (double)(draw_bits() >> 11) * 0x1p-53;
}
