/*
 * Waits without progress (options timeout and on_timeout): after the time limit a process reports, once for each wait,
 * which process it waits for and in which call, and on request gives up.
 */
#ifndef HS_HSUMMA_CONTEXT_STALL_H
#define HS_HSUMMA_CONTEXT_STALL_H

#include "base/status.h"
#include "base/wait.h"

struct hs_stall {
    struct hs_watch watch; /* comm.watch */
    double waited;         /* seconds of the current wait at the last look */
    int reported;          /* true if the current wait has been reported */
    int reports;           /* number of reports so far */
    struct hs_message text;
};

/* Begins to watch the waits of the context, if the options ask for it.  Implemented in hsumma/plan/stalled_wait.c. */
void hs_stall_watch(hsumma_context *ctx);

#endif
