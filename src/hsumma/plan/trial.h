/*
 * tune=measure: the best candidates of a plan are executed in turns until the fastest is known.  All executions count:
 * no result is discarded.  As the HSUMMA paper proposes for the number of groups (Section IV), a few outer steps of
 * each candidate are enough:
 *
 *   1. Candidates with the panels of the first candidate (same stationary operand, block, turn and slices; other
 *      hierarchies, algorithms, lookaheads and segments) share the first execution: each executes two spans of a few
 *      outer panels.  The processes agree on the slowest process's time per panel, and the fastest candidate executes
 *      the remaining panels.
 *   2. This fastest candidate and the candidates with other panels alternate in whole executions, twice each.
 *
 * Without step 1 (there are too few panels, or only the first candidate has these panels) all candidates alternate.
 *
 * Then the processes agree on the times.  The fastest candidate runs all later executions.  It is remembered in the
 * tuned file and, if the grid has all processes of the context, in the context, unless options have excluded
 * candidates.
 */
#ifndef HS_HSUMMA_PLAN_TRIAL_H
#define HS_HSUMMA_PLAN_TRIAL_H

#include "coll/run/agree.h"
#include "hsumma/search/search.h"
#include "hsumma/tuned/tuned.h"
#include "summa/messages/loop.h"

struct hs_request;

struct hs_trial {
    int count;                    /* number of candidates; 0 if there is no trial */
    hsumma_plan *plan[HS_RANKED]; /* the candidates' plans: plan[0] is the caller's; NULL if freed after losing */
    int rank[HS_RANKED];          /* the candidates' places in the ranking */
    int out[HS_RANKED];           /* 1 if a candidate has lost */
    /* Seconds of a candidate's shortest execution on this process; after the agreement, on the slowest process, unless
     * all candidates shared one execution. */
    double seconds[HS_RANKED];
    double step[HS_RANKED]; /* seconds per panel of candidates that share an execution; agreed on like `seconds` */
    int turn, rounds;       /* the candidate that executes; number of complete rounds of whole executions */
    int served;             /* the candidate of the last complete execution */
    int executions;         /* number of complete executions so far; at most 2 x count */
    int deciding;           /* the candidate whose time is being agreed on; -1 if there is none */
    int decided;            /* 1 after the agreement on the fastest candidate */
    int to_remember;        /* 1 if the context has yet to remember the fastest candidate */
    int remembers;          /* 1 if the result may be remembered, because no option excluded candidates */
    int stepping;           /* 1 while candidates share the first execution, which is pending or running */
    int sharer[HS_RANKED];  /* the candidates that share the first execution */
    int sharers;            /* number of sharers; the first is candidate 0 */
    /* span: index of the current span, panels from .. to - 1; spans: number of spans before the last, which has all
     * remaining panels. */
    int span, spans, from, to;
    struct hs_times together;      /* sum over the spans so far */
    struct hs_agreement agreement; /* the agreement over the whole grid on times */
    char key[HS_TUNED_KEY];
};

/* A hash of the operands' layout and the placement of the grid on several nodes, because a product whose processes are
 * in another order counts as another product. */
uint64_t hs_placed_hash(const hsumma_context *ctx, const struct hs_request *request);

/* Returns 1 if a plan for the request is remembered, and the caller gives neither an option for products
 * (hs_options_plan_said) nor tune=off.  Then sets *remembered to the caller's options, completed with those of the
 * remembered plan. */
int hs_trial_recall(const hsumma_context *ctx, const struct hs_request *request, const struct hs_options *options,
                    struct hs_options *remembered);

/* Makes plans for the rivals in plan->ranking.  Collective; after an error nothing stays allocated. */
hsumma_status hs_trial_begin(hsumma_plan *plan, const struct hs_request *request, const struct hs_options *options);
void hs_trial_end(hsumma_plan *plan);

/* The plan that runs the current or next execution of the plan that the caller holds. */
hsumma_plan *hs_trial_turn(hsumma_plan *plan);

/*
 * Makes the context remember the fastest candidate.  Called at the start of the next execution, when all processes are
 * at the same place in the program: some may have completed the trial in a test, others later in a wait, and plans made
 * in between must agree on all processes.
 */
void hs_trial_remember(hsumma_plan *holder);
/* Frees plans that have lost.  Called before an execution. */
void hs_trial_settle(hsumma_plan *plan);

/* Resets the spans.  Returns the end of the first one if candidates share this execution, else HS_ALL. */
int hs_trial_first_span(hsumma_plan *holder);
/* Advances the execution that candidates share (an hs_advance function). */
hsumma_status hs_trial_share(hsumma_plan *holder, int *worked, int *done);

/* Called after this process has executed a candidate.  After the last execution it advances the agreement on the times
 * (like an hs_advance function). */
hsumma_status hs_trial_advance(hsumma_plan *holder, double seconds, int *worked, int *done);

#endif
