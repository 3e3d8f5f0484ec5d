/* The simulator that the library is compiled for ("make sim": src/sim), or none. */
#ifndef HS_BASE_SIMULATOR_H
#define HS_BASE_SIMULATOR_H

#include "base/memory.h"

struct hs_simulator {
    const char *name;
    void (*advance)(double seconds); /* the calling process computes so long */
    /* Memory whose content does not matter: all of it lies in the same few pages, and messages copy none of it. */
    struct hs_allocator folded;
};

/* NULL on a real machine. */
const struct hs_simulator *hs_simulator(void);

#endif
