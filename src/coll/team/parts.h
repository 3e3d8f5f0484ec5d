/* Internal declarations of team.c and prepare.c. */
#ifndef HS_COLL_TEAM_PARTS_H
#define HS_COLL_TEAM_PARTS_H

#include "coll/team/team.h"

/* A condition to wait for: that of ticket or request, if not NULL, else that of number. */
struct hs_team_waiting {
    struct hs_team *team;
    struct hs_ticket *ticket; /* the ticket is done */
    MPI_Request *request;     /* MPI has completed the request */
    int64_t number;           /* no call up to this number is in progress */
    int native;               /* if 1: moreover, all MPI steps of calls in progress have started */
};
/* An hs_advance function; waiting: a struct hs_team_waiting. */
hsumma_status hs_team_advance(void *waiting, int *worked, int *done);
/* Waits until no call is in progress.  HSUMMA_OK also if they have ended with an error (team->broken). */
hsumma_status hs_team_drain(struct hs_team *team);

/* Implemented in measure.c.  Whether a call is a long broadcast for which the prices of copies are not known yet. */
int hs_team_must_measure(const struct hs_team *team, const struct hs_call *call);
/*
 * Agrees on the call, whose hash is given; if it differs between ranks, sets *alike to 0 and does nothing else.  Unless
 * other work is in progress on some rank, then recalls or measures the prices of copies, and forgets the broadcasts
 * that were chosen by other prices.  If memory is short, the prices stay as they are.  Collective.  Only errors that
 * end the team, and those of the agreement.
 */
hsumma_status hs_team_measure(struct hs_team *team, const struct hs_call *call, int64_t hash, int *alike,
                              struct hs_message *message);

/* The functions below are in prepare.c, except the last two. */
/* Runs an agreement.  A verdict with an error also sets the message. */
hsumma_status hs_team_agree(struct hs_team *team, struct hs_vote mine, struct hs_verdict *verdict,
                            struct hs_message *message);
/* Drops all signatures and prices of a collective. */
void hs_team_forget(struct hs_team *team, enum hs_collective collective);
struct hs_signature_maker hs_team_maker(struct hs_team *team);
/* Finds the signature that serves a call. Returns NULL if there is none. */
struct hs_signature *hs_team_find(struct hs_team *team, const struct hs_call *call);
/* Moves a signature to the front of the list, whose end is dropped first. All ranks must do so alike: after they have
 * agreed on a call, not while one of them may refuse it. */
void hs_team_use(struct hs_team *team, struct hs_signature *signature);
/* Allocates memory for a copy of an in-place contribution or, on devices, for staged copies outside the pool. */
hsumma_status hs_team_need_copy(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                                struct hs_message *message);
/* Prepares a new kind of call (*signature NULL) or checks a known one. mine, about: this rank's errors. Collective. */
hsumma_status hs_team_prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                              hsumma_status mine, int about, struct hs_message *message);

/* Ends all calls in progress with an error. If it is a device's, not MPI's, sends a notice to the other ranks. */
void hs_team_fail(struct hs_team *team, hsumma_status status);
/* Receives a notice if another rank has sent one, and ends all calls in progress with its error. */
void hs_team_listen(struct hs_team *team);

#endif
