/*
 * tune=measure: the best candidates of a plan take turns until the fastest is known; nothing that is measured is thrown
 * away.  As the HSUMMA paper proposes for the number of groups (Section IV), a few outer steps of each are enough:
 *
 *   1. Candidates that have the first one's panels (same stationary operand, block, turn and slices; other hierarchies,
 *      algorithms, lookaheads and segments) share the first execution, each on spans of a few outer panels, twice; the
 *      processes agree on the slowest one's time for a panel, and the fastest does the rest of the panels.
 *   2. It and the candidates with other panels take turns in whole executions, twice each.
 *
 * Then the processes agree on the times; the fastest serves from then on and is remembered in the context and in the
 * tuned file.
 */
#ifndef HS_HSUMMA_PLAN_TRIAL_H
#define HS_HSUMMA_PLAN_TRIAL_H

#include "coll/run/agree.h"
#include "hsumma/search/search.h"
#include "hsumma/tuned/tuned.h"
#include "summa/messages/loop.h"

struct hs_request;

struct hs_trial {
    int count;                    /* candidates; 0: no trial */
    hsumma_plan *plan[HS_RANKED]; /* the first is the plan that the caller holds; NULL: has lost, and is gone */
    int rank[HS_RANKED];          /* their places in its ranking */
    int out[HS_RANKED];           /* has lost */
    double seconds[HS_RANKED];    /* the shortest execution, on this process; in the end of the slowest one, but
                                 where all have shared one execution */
    double step[HS_RANKED];       /* of a panel, likewise, of those who share an execution */
    int turn, rounds;             /* who serves; complete rounds of whole executions */
    int served;                   /* the last complete execution */
    int executions;               /* that have counted; 2 x count at most */
    int deciding;                 /* the candidate whose time is being agreed upon; -1: none */
    int decided;
    int to_remember;               /* in the context */
    int remembers;                 /* nobody's words have left candidates out */
    int stepping;                  /* candidates share the first execution: it is to come, or under way */
    int sharer[HS_RANKED];         /* those who do, */
    int sharers;                   /* so many; the first is 0 */
    int span, spans, from, to;     /* the span under way, and how many there are before the last one */
    struct hs_times together;      /* of the spans so far */
    struct hs_agreement agreement; /* over the whole grid */
    char key[HS_TUNED_KEY];
};

/* 1: a plan for the request is remembered and the caller's options leave open how; *remembered has
 * its options as well. */
int hs_trial_recall(const hsumma_context *ctx, const struct hs_request *request, const struct hs_options *options,
                    struct hs_options *remembered);

/* Makes plans for the rivals in plan's ranking.  Collective; an error leaves nothing behind. */
hsumma_status hs_trial_begin(hsumma_plan *plan, const struct hs_request *request, const struct hs_options *options);
void hs_trial_end(hsumma_plan *plan);

/* The plan that serves the next execution, or the one under way, for the plan that the caller holds. */
hsumma_plan *hs_trial_turn(hsumma_plan *plan);

/*
 * The winner is known in the context from now on.  At the start of the next execution, where all processes are at the
 * same place of the program: some may have met the end of the trial in a test, others later in a wait, and plans that
 * are made in between must be alike.
 */
void hs_trial_remember(hsumma_plan *holder);
/* Before an execution: frees the plans that have lost. */
void hs_trial_settle(hsumma_plan *plan);

/* The first execution, if candidates share it: the end of the first span, HS_ALL if they do not. */
int hs_trial_first_span(hsumma_plan *holder);
/* Advances it, from its start to its end (hs_advance). */
hsumma_status hs_trial_share(hsumma_plan *holder, int *worked, int *done);

/* After an execution of a candidate by this process; advances the agreement, if it was the last one (hs_advance). */
hsumma_status hs_trial_advance(hsumma_plan *holder, double seconds, int *worked, int *done);

#endif
