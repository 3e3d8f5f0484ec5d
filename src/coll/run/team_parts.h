/* Shared by team.c and team_prepare.c. Not for other files. */
#ifndef HS_COLL_RUN_TEAM_PARTS_H
#define HS_COLL_RUN_TEAM_PARTS_H

#include "coll/run/team.h"

struct hs_team_waiting {
    struct hs_team *team;
    struct hs_ticket *ticket;           /* wait until it is done, or ... */
    const struct hs_signature *reserve; /* ... until memory is back in its reserve, or ... */
    MPI_Request *request;               /* ... until MPI has completed it, or ... */
    int64_t number;                     /* ... until no call up to this number is in progress and, ... */
    int native;                         /* ... if nonzero, no MPI collective that consists of several pieces, or ... */
    int pool;                           /* ... until no call on a device is in progress */
};
/* The hs_advance of a struct hs_team_waiting. */
hsumma_status hs_team_advance(void *waiting, int *worked, int *done);

/* team_prepare.c */
struct hs_signature_maker hs_team_maker(struct hs_team *team);
/* Finds the signature that serves a call and moves it to the front; NULL: there is none. */
struct hs_signature *hs_team_find(struct hs_team *team, const struct hs_call *call);
/* Allocates staged copies: for a contribution that lies in out, and for calls on devices. */
hsumma_status hs_team_need_copy(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                                struct hs_message *message);
/* Prepares a new kind of call, or checks a known one again. Collective. */
hsumma_status hs_team_prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                              hsumma_status mine, int about, struct hs_message *message);

/* Ends all calls in progress with the error. If it is a device's, not MPI's, sends a notice to the other ranks. */
void hs_team_fail(struct hs_team *team, hsumma_status status);
/* Checks for a notice from another rank. */
void hs_team_listen(struct hs_team *team);

#endif
