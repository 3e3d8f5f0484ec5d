/*
 * Shared by tests of schedules. A sweep runs the configurations of a row through verify under a random schedule,
 * compares the counts with expected ones, and describes the first failure. Further functions compute work and prices of
 * schedules, for comparison with manual results.
 */
#ifndef HS_TESTS_SUPPORT_COLL_SWEEP_H
#define HS_TESTS_SUPPORT_COLL_SWEEP_H

#include "coll/model/clock.h"
#include "coll/proof/verify.h"

struct coll_sweep {
    uint64_t mix;    /* seed of random choices */
    int no_messages; /* a window of one step suffices */
    int runs, bad;
    char text[600]; /* the first failure */
};

/* Runs verify once; 1 if it passes, and the report is filled in. */
int sweep_verify(struct coll_sweep *sweep, const struct hs_alg *alg, const struct hs_shape *shape,
                 struct hs_verify_report *report);

/* Records a failure. */
void sweep_fault(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what);
void sweep_expect(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have, int64_t want);
void sweep_at_most(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have,
                   int64_t most);

/* Reports the test: no failures in at least `enough` runs. */
__attribute__((format(printf, 3, 4))) void sweep_end(const struct coll_sweep *sweep, int enough, const char *what, ...);

/* hs_topology_blocks with shared memory; ends the program without memory. */
struct hs_topology topology_blocks(int size, int nodes, int sockets, int64_t shared_bytes, int direct);

/* The work of all ranks, and of the rank with most. */
struct coll_work {
    int64_t signals, copied, summed; /* copied and summed in bytes */
    int64_t summed_most, joins_most;
};

/* All zeros if the row cannot be built. */
struct coll_work coll_work_of(const struct hs_alg *alg, const struct hs_shape *shape);

/* Seconds by the clock; negative on error. load may be NULL. */
double price_of(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                struct hs_clock_load *load);

/* The price of the steps that `build` emits, for ranks in blocks on nodes with two sockets and shared memory. */
double price_of_steps(void (*build)(struct hs_builder *, const struct hs_shape *), int size, int nodes, int64_t bytes,
                      const struct hs_machine *machine);

/* Whether two prices differ only by rounding. */
int same_price(double is, double want);

/* The least e with base^e >= n. */
int log_up(int base, int64_t n);
int log2_up(int64_t n);

/* The number of messages of recursive doubling over n ranks; each rank beyond a power of two sends and receives one. */
int64_t doubling_messages(int n);

#endif
