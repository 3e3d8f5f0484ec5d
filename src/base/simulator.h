/* The simulator that the library is compiled for ("make sim": src/sim), or none. */
#ifndef HS_BASE_SIMULATOR_H
#define HS_BASE_SIMULATOR_H

#include "base/memory.h"

/* Traffic of the simulated network links. */
struct hs_simulated_links {
    int64_t bytes; /* summed over all links */
    char name[64]; /* the link that was busy longest; "" if unknown */
    double busiest_bytes, busiest_bandwidth;
};

struct hs_simulator {
    const char *name;
    void (*advance)(double seconds); /* advances the calling process's clock */
    /* For data whose contents do not matter: all blocks alias the same few pages, and messages do not copy them. */
    struct hs_allocator folded;
    void (*watch_links)(void); /* starts counting traffic */
    void (*read_links)(struct hs_simulated_links *links);
    /* Results that all ranks share: `keep` stores a copy of `size` bytes under a key; `recall` copies them and returns
     * 1, or returns 0 if there are none. */
    void (*keep)(uint64_t key, const void *found, size_t size);
    int (*recall)(uint64_t key, void *found, size_t size);
};

/* NULL on a real machine. */
const struct hs_simulator *hs_simulator(void);

#endif
