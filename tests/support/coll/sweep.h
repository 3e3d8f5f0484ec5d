/*
 * For tests of schedules. A sweep runs an algorithm's configurations through hs_verify in a random order of steps,
 * compares the counts with expected ones, and describes the first failure. Further functions compute the work and the
 * price of schedules, for comparison with results derived by hand.
 */
#ifndef HS_TESTS_SUPPORT_COLL_SWEEP_H
#define HS_TESTS_SUPPORT_COLL_SWEEP_H

#include "coll/model/clock.h"
#include "coll/proof/verify.h"

struct coll_sweep {
    uint64_t mix;    /* state of the random generator */
    int no_messages; /* nonzero: the schedules have no messages, so a window of one step suffices */
    int runs, bad;
    char text[600]; /* description of the first failure */
};

/* Runs hs_verify once. Returns 1, with the report filled in, if the schedule passes. */
int sweep_verify(struct coll_sweep *sweep, const struct hs_alg *alg, const struct hs_shape *shape,
                 struct hs_verify_report *report);

/* sweep_fault records a failure; sweep_expect records one if `have` differs from `want`, sweep_at_most if `have`
 * exceeds `most`. */
void sweep_fault(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what);
void sweep_expect(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have, int64_t want);
void sweep_at_most(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have,
                   int64_t most);

/* Reports the sweep as one test. It passes if there was no failure and `enough` (there were enough runs) is nonzero. */
__attribute__((format(printf, 3, 4))) void sweep_end(const struct coll_sweep *sweep, int enough, const char *what, ...);

/* hs_topology_blocks with shared memory; ends the program if memory is exhausted. */
struct hs_topology topology_blocks(int size, int nodes, int sockets, int64_t shared_bytes, int direct);

/* The work of all ranks together; *_most: of the rank with the most. */
struct coll_work {
    int64_t signals, copied, summed; /* copied and summed are in bytes */
    int64_t summed_most, joins_most;
};

/* The work of an algorithm; all zeros if its schedule cannot be built. */
struct coll_work coll_work_of(const struct hs_alg *alg, const struct hs_shape *shape);

/* The price of an algorithm by the clock, in seconds; negative on error. load may be NULL. */
double price_of(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                struct hs_clock_load *load);

/* The price of the steps that `build` adds, in seconds; negative on error. Ranks are dealt to nodes in blocks; a node
 * has two sockets and shared memory. */
double price_of_steps(void (*build)(struct hs_builder *, const struct hs_shape *), int size, int nodes, int64_t bytes,
                      const struct hs_machine *machine);

/* Whether two prices differ by rounding only. */
int same_price(double is, double want);

/* The least e with base^e >= n; log2_up has base 2. */
int log_up(int base, int64_t n);
int log2_up(int64_t n);

/* The number of messages of recursive doubling over n ranks; ranks beyond a power of two send and receive one each. */
int64_t doubling_messages(int n);

#endif
