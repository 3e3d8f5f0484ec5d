#include "support/random.h"

static uint64_t program_state;

void draw_seed(uint64_t seed)
{
    program_state = seed;
}

uint64_t draw_bits(void)
{
    return hs_random(&program_state);
}

int draw_of(uint64_t *state, int below)
{
    return (int)(hs_random(state) % (uint64_t)below);
}

int draw(int below)
{
    return draw_of(&program_state, below);
}

double draw_fraction(void)
{
    return (double)(draw_bits() >> 11) * 0x1p-53;
}

int draw_divisor(int of)
{
    int divisor = 1 + draw(of);
    while (of % divisor)
        divisor--;
    return divisor;
}
