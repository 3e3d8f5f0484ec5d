/* The simulator that the library is compiled for ("make sim": src/sim), or none. */
#ifndef HS_BASE_SIMULATOR_H
#define HS_BASE_SIMULATOR_H

#include "base/memory.h"

/* What links have carried. */
struct hs_simulated_links {
    int64_t bytes; /* of all together */
    char name[64]; /* of the one that was busy longest; "": nothing is known */
    double busiest_bytes, busiest_bandwidth;
};

struct hs_simulator {
    const char *name;
    void (*advance)(double seconds); /* the calling process computes so long */
    /* Memory whose content does not matter: all of it lies in the same few pages, and messages copy none of it. */
    struct hs_allocator folded;
    void (*watch_links)(void); /* from now on */
    void (*read_links)(struct hs_simulated_links *links);
};

/* NULL on a real machine. */
const struct hs_simulator *hs_simulator(void);

#endif
