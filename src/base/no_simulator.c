/* The library for real machines has no simulator.  "make sim" links src/sim/simgrid.c instead of this file. */
#include "base/simulator.h"

const struct hs_simulator *hs_simulator(void)
{
    return NULL;
}
