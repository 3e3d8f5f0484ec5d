/*
 * Waits without progress. A process that waits looks twice a second whether a process of its node has ended or given
 * up, and then returns an error. After the time limit (options timeout and on_timeout) it reports, once for each wait,
 * which process it waits for and in which call, and on request gives up.
 */
#ifndef HS_HSUMMA_CONTEXT_STALL_H
#define HS_HSUMMA_CONTEXT_STALL_H

#include "base/status.h"
#include "base/wait.h"

struct hs_stall {
    struct hs_watch watch; /* comm.watch */
    double waited;         /* seconds of the current wait at the last look */
    double glanced;        /* time of the last hs_stall_glance that looked */
    int leaver;            /* the mate that the last look found missing; -1 if none */
    int reported;          /* true if the current wait has been reported */
    int reports;           /* number of reports so far that were printed */
    hsumma_report *report; /* receives reports instead of standard error; NULL if none (hsumma_set_report) */
    void *report_state;
};

/* Calls that a process shows its mates when it enters them (coll/node/roster.h). */
enum hs_entered {
    HS_ENTERED_NOTHING,
    HS_ENTERED_GRID,
    HS_ENTERED_MALLOC,
    HS_ENTERED_PLAN,
    HS_ENTERED_COMPARISON, /* of the arguments of a product (check=always) */
    HS_ENTERED_EXECUTION,
    HS_ENTERED_REDISTRIBUTE,
    HS_ENTERED_LAYOUTS,
    HS_ENTERED_TRACE,
    HS_ENTERED_COLLECTIVE /* this and the following: + the collective */
};

/*
 * Begins to watch the waits of the context.  This function and hs_stall_glance are implemented in
 * hsumma/plan/stalled_wait.c.
 */
void hs_stall_watch(hsumma_context *ctx);
/*
 * Called when a test finds a call of the context incomplete: at most twice a second looks whether a process has ended
 * or given up. After an error the context is broken, and its collective calls in progress have failed.
 */
hsumma_status hs_stall_glance(hsumma_context *ctx);

#endif
