/* The simulator of the library for real machines: none.  "make sim" links src/sim/simgrid.c instead. */
#include "base/simulator.h"

const struct hs_simulator *hs_simulator(void)
{
    return NULL;
}
