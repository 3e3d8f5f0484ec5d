/*
 * tune=measure: the best candidates of a plan are executed in turns until the fastest is known.  All executions count:
 * no result is discarded.  As the HSUMMA paper proposes for the number of groups (Section IV), a few outer steps of
 * each are enough:
 *
 *   1. Candidates with the first one's panels (same stationary operand, block, turn and slices; other hierarchies,
 *      algorithms, lookaheads and segments) share the first execution, each on spans of a few outer panels, twice.  The
 *      processes agree on the slowest process's time per panel, and the fastest candidate does the remaining panels.
 *   2. That one and the candidates with other panels take turns in whole executions, twice each.
 *
 * Then the processes agree on the times.  The fastest candidate serves from then on, and is remembered in the context
 * and in the tuned file.
 */
#ifndef HS_HSUMMA_PLAN_TRIAL_H
#define HS_HSUMMA_PLAN_TRIAL_H

#include "coll/run/agree.h"
#include "hsumma/search/search.h"
#include "hsumma/tuned/tuned.h"
#include "summa/messages/loop.h"

struct hs_request;

struct hs_trial {
    int count;                    /* number of candidates; 0: no trial */
    hsumma_plan *plan[HS_RANKED]; /* the first is the plan that the caller holds; NULL: has lost and is freed */
    int rank[HS_RANKED];          /* places in the ranking */
    int out[HS_RANKED];           /* has lost */
    /* The shortest execution on this process; after the agreement that of the slowest process, unless all shared one
     * execution. */
    double seconds[HS_RANKED];
    double step[HS_RANKED]; /* seconds per panel, likewise, for candidates that share an execution */
    int turn, rounds;       /* the candidate that serves; complete rounds of whole executions */
    int served;             /* the candidate of the last complete execution */
    int executions;         /* executions that count; at most 2 x count */
    int deciding;           /* the candidate whose time is being agreed on; -1: none */
    int decided;
    int to_remember;       /* in the context */
    int remembers;         /* no option has excluded candidates */
    int stepping;          /* candidates share the first execution, which is pending or running */
    int sharer[HS_RANKED]; /* the candidates that share it */
    int sharers;           /* number of sharers; the first is candidate 0 */
    /* The current span, the number of spans before the last, the current span's panels. */
    int span, spans, from, to;
    struct hs_times together;      /* sum over the spans so far */
    struct hs_agreement agreement; /* over the whole grid */
    char key[HS_TUNED_KEY];
};

/* Returns 1 if a plan for the request is remembered and no option of the caller contradicts it; *remembered: the
 * caller's options, completed with those of that plan. */
int hs_trial_recall(const hsumma_context *ctx, const struct hs_request *request, const struct hs_options *options,
                    struct hs_options *remembered);

/* Makes plans for the rivals in plan's ranking.  Collective; on error nothing stays allocated. */
hsumma_status hs_trial_begin(hsumma_plan *plan, const struct hs_request *request, const struct hs_options *options);
void hs_trial_end(hsumma_plan *plan);

/* The plan that serves the current or next execution, for the plan that the caller holds. */
hsumma_plan *hs_trial_turn(hsumma_plan *plan);

/*
 * Makes the winner known in the context.  Called at the start of the next execution, where all processes are at the
 * same place in the program: some may have completed the trial in a test, others later in a wait, and plans made in
 * between must agree on all processes.
 */
void hs_trial_remember(hsumma_plan *holder);
/* Before an execution: frees plans that have lost. */
void hs_trial_settle(hsumma_plan *plan);

/* The end of the first span, if candidates share the first execution; else HS_ALL. */
int hs_trial_first_span(hsumma_plan *holder);
/* Advances the shared execution (hs_advance). */
hsumma_status hs_trial_share(hsumma_plan *holder, int *worked, int *done);

/* After this process has executed a candidate; the last execution is followed by an agreement, which this advances
 * (hs_advance). */
hsumma_status hs_trial_advance(hsumma_plan *holder, double seconds, int *worked, int *done);

#endif
