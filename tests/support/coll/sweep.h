/*
 * What tests of schedules share.  Sweeps over the configurations of a row: each goes through verify, under a schedule
 * drawn by chance, what it counts is compared with what it should be, and the first that is wrong is described.  Work
 * and prices that can be computed by hand.
 */
#ifndef HS_TESTS_SUPPORT_COLL_SWEEP_H
#define HS_TESTS_SUPPORT_COLL_SWEEP_H

#include "coll/model/clock.h"
#include "coll/proof/verify.h"

struct coll_sweep {
    uint64_t mix;    /* seeds what is drawn */
    int no_messages; /* a window of one step will do */
    int runs, bad;
    char text[600]; /* the first that is wrong */
};

/* One run; 1 if it is right, and then the report says what it took. */
int sweep_verify(struct coll_sweep *sweep, const struct hs_alg *alg, const struct hs_shape *shape,
                 struct hs_verify_report *report);

/* Notes something wrong. */
void sweep_fault(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what);
void sweep_expect(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have, int64_t want);
void sweep_at_most(struct coll_sweep *sweep, const struct hs_shape *shape, const char *what, int64_t have,
                   int64_t most);

/* The test: nothing was wrong, and `enough` was tried. */
__attribute__((format(printf, 3, 4))) void sweep_end(const struct coll_sweep *sweep, int enough, const char *what, ...);

/* hs_topology_blocks with memory that ranks share; ends the program where there is no memory. */
struct hs_topology topology_blocks(int size, int nodes, int sockets, int64_t shared_bytes, int direct);

/* Steps of what all ranks do, and what the rank does that does most. */
struct coll_work {
    int64_t signals, copied, summed; /* the last two in bytes */
    int64_t summed_most, joins_most;
};

/* All zero if the row cannot be built. */
struct coll_work coll_work_of(const struct hs_alg *alg, const struct hs_shape *shape);

/* Seconds on the clock; negative: it refuses.  load: may be NULL. */
double price_of(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_machine *machine,
                struct hs_clock_load *load);

/* Of the steps that `build` emits, for ranks in blocks on nodes of two sockets, which share memory. */
double price_of_steps(void (*build)(struct hs_builder *, const struct hs_shape *), int size, int nodes, int64_t bytes,
                      const struct hs_machine *machine);

/* Whether two prices differ by rounding only. */
int same_price(double is, double want);

/* The least e with base^e >= n. */
int log_up(int base, int64_t n);
int log2_up(int64_t n);

/* Messages of recursive doubling over n ranks; those beyond a power of two have one each way. */
int64_t doubling_messages(int n);

#endif
