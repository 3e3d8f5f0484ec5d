/* The one wait loop of the library, and how an idle process gives its processor away. */
#ifndef HS_BASE_WAIT_H
#define HS_BASE_WAIT_H

#include "base/status.h"

/* Moves work forward.  *worked: something happened; *done: nothing is left.  An error ends the wait. */
typedef hsumma_status hs_advance(void *state, int *worked, int *done);

/*
 * Calls advance until it is done.  MPICH's own waits never yield, so that with more ranks than cores each would cost a
 * scheduler slice (about 8 ms): here a process that has polled in vain for a moment yields after every further poll.
 */
enum { HS_POLLS_BEFORE_YIELD = 64 };
hsumma_status hs_wait(hs_advance *advance, void *state);

/* What an idle process does; times: polls in vain so far. */
typedef void hs_idle(void *state, int times);
/* The same with another way to be idle. */
hsumma_status hs_wait_idle(hs_advance *advance, void *state, hs_idle *idle, void *idle_state);

/* Seconds on a clock that never goes back. */
double hs_now(void);

#endif
