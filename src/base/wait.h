/* The one wait loop of the library, and how an idle process gives its processor away. */
#ifndef HS_BASE_WAIT_H
#define HS_BASE_WAIT_H

#include "base/status.h"

/* Moves work forward.  *worked: something happened; *done: nothing is left.  An error ends the wait. */
typedef hsumma_status hs_advance(void *state, int *worked, int *done);

/* What an idle process does; times: polls that have found nothing so far.  An error ends the wait. */
typedef hsumma_status hs_idle(void *state, int times);

/*
 * The one policy: spin for a moment, then yield after every further poll, and (only with a directory of a node, whose
 * processes wake each other) sleep in the end.  MPICH's own waits never yield, so that with more ranks than cores each
 * would cost a scheduler slice (about 8 ms).  A poll of MPI takes longer than one of shared memory: so fewer of them
 * than of a directory's counters (SPINS in coll/node/directory.c).
 */
enum { HS_POLLS_BEFORE_YIELD = 64 };
void hs_idle_awake(int spins, int times);
hs_idle hs_idle_yield; /* after HS_POLLS_BEFORE_YIELD; state is not used */

/* Calls advance until it is done. */
hsumma_status hs_wait(hs_advance *advance, void *state); /* idle: hs_idle_yield */
hsumma_status hs_wait_idle(hs_advance *advance, void *state, hs_idle *idle, void *idle_state);

/* Seconds on a clock that never goes back. */
double hs_now(void);

#endif
