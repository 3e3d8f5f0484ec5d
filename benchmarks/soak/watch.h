/* The resources of a process over a long run, and whether they grow. */
#ifndef HS_BENCHMARKS_SOAK_WATCH_H
#define HS_BENCHMARKS_SOAK_WATCH_H

#include <stdint.h>

/* heap: bytes that malloc has given out; resident, proportional, shared: of physical memory, from smaps_rollup (Rss,
 * Pss, Pss_Shmem); the last two are counts. */
typedef enum watched {
    WATCH_HEAP,
    WATCH_RESIDENT,
    WATCH_PROPORTIONAL,
    WATCH_SHARED,
    WATCH_DESCRIPTORS,
    WATCH_MAPPINGS,
    WATCHES
} watched;

/* The run after its warm-up is divided into parts. Each keeps the least value of its samples: a leak raises every
 * later sample, while a cache that fills up, or memory that the heap has not yet returned, comes to rest. */
enum { WATCH_PARTS = 4, WATCH_SAMPLES = 10 }; /* WATCH_SAMPLES: the fewest in a part that show growth */

typedef struct watch {
    int64_t least[WATCHES][WATCH_PARTS]; /* -1: no sample */
    int64_t samples[WATCH_PARTS];
} watch;

extern const char *const watch_names[WATCHES];
int watch_is_count(watched which); /* else bytes */

void watch_init(watch *w);
/* Takes a sample; done: the fraction of the run that is complete. Only without library objects in use. Local. */
void watch_sample(watch *w, double done);
/* The increase from the first part to the last if every part is above the one before, else 0; -1 if a part has too few
 * samples. */
int64_t watch_growth(const watch *w, watched which);
/* The growth that does not count as a leak: buffers that MPI adds and pages of freed memory that malloc keeps, whatever
 * the length of the run. */
int64_t watch_allowed(watched which);

#endif
