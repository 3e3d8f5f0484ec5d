/* The library's only wait loop, and how an idle process yields its processor. */
#ifndef HS_BASE_WAIT_H
#define HS_BASE_WAIT_H

#include "base/status.h"

/* Moves work forward.  *worked: some progress was made; *done: nothing is left.  An error ends the wait. */
typedef hsumma_status hs_advance(void *state, int *worked, int *done);

/* Called after a poll that made no progress; times: the number of such polls in a row. An error ends the wait. */
typedef hsumma_status hs_idle(void *state, int times);

/*
 * The waiting policy: spin briefly, then yield after every further poll, and finally sleep where a node's directory
 * lets processes wake each other.  MPICH's own waits never yield: with more ranks than cores each would cost a
 * scheduler slice (about 8 ms).  A poll of MPI takes longer than a poll of shared memory, so a process spins for fewer
 * polls here than on a directory's counters (SPINS in coll/node/directory.c).
 */
enum { HS_POLLS_BEFORE_YIELD = 64, HS_POLLS_CROWDED = 4 };
void hs_idle_awake(int spins, int times);
/*
 * Yields after HS_POLLS_BEFORE_YIELD polls, or after HS_POLLS_CROWDED if state points to a nonzero int: with more ranks
 * than processors the awaited rank may not be running. state may be NULL.
 */
hs_idle hs_idle_yield;

/*
 * Looks after waits that poll: during a wait without progress, `look` is called every `interval` seconds with the
 * seconds since the last progress. An error that it returns ends the wait.
 */
struct hs_watch {
    hsumma_status (*look)(void *state, double seconds);
    void *state;
    double interval;
};

/* Calls advance until it is done, and idle after each call without progress. watch: NULL, or looks after the wait. */
hsumma_status hs_wait_idle(hs_advance *advance, void *state, hs_idle *idle, void *idle_state,
                           const struct hs_watch *watch);

/* Seconds on a monotonic clock. */
double hs_now(void);

#endif
