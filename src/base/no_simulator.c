/* In the library for real machines; "make sim" has src/sim/simgrid.c in its place. */
#include "base/simulator.h"

const struct hs_simulator *hs_simulator(void)
{
    return NULL;
}
