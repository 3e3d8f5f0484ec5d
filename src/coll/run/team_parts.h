/* Internal declarations of team.c and team_prepare.c. */
#ifndef HS_COLL_RUN_TEAM_PARTS_H
#define HS_COLL_RUN_TEAM_PARTS_H

#include "coll/run/team.h"

/*
 * A condition to wait for: that of the first nonzero field among ticket, reserve, pool and request; if all are 0, that
 * of number and native.
 */
struct hs_team_waiting {
    struct hs_team *team;
    struct hs_ticket *ticket;           /* the ticket is done */
    const struct hs_signature *reserve; /* the signature has an operation in reserve, or none in progress */
    MPI_Request *request;               /* MPI has completed the request */
    int64_t number;                     /* no call up to this number is in progress */
    int native;                         /* if 1: moreover, no call with MPI steps is in progress that has several steps,
                                           or whose data are still being copied, so that some may not have started */
    int pool;                           /* if 1: no call on a device is in progress */
};
/* An hs_advance function; waiting: a struct hs_team_waiting. */
hsumma_status hs_team_advance(void *waiting, int *worked, int *done);

/* The functions below are in team_prepare.c, except the last two. */
struct hs_signature_maker hs_team_maker(struct hs_team *team);
/* Finds the signature that serves a call. Returns NULL if there is none. */
struct hs_signature *hs_team_find(struct hs_team *team, const struct hs_call *call);
/* Moves a signature to the front of the list, whose end is dropped first. All ranks must do so alike: after they have
 * agreed on a call, not while one of them may refuse it. */
void hs_team_use(struct hs_team *team, struct hs_signature *signature);
/* Allocates memory for a copy of an in-place contribution or, on devices, for staged copies outside the pool. */
hsumma_status hs_team_need_copy(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                                struct hs_message *message);
/*
 * Prepares a new kind of call (*signature is NULL), or checks a known one again. mine, about: this rank's errors so
 * far. Collective.
 */
hsumma_status hs_team_prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                              hsumma_status mine, int about, struct hs_message *message);

/*
 * Ends all calls in progress with an error. If the error is of a device, not of MPI, sends a notice to the other ranks.
 */
void hs_team_fail(struct hs_team *team, hsumma_status status);
/* Receives a notice if another rank has sent one, and ends all calls in progress with its error. */
void hs_team_listen(struct hs_team *team);

#endif
