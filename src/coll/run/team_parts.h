/* What the files of a team share (team.c, team_prepare.c).  Nobody else includes it. */
#ifndef HS_COLL_RUN_TEAM_PARTS_H
#define HS_COLL_RUN_TEAM_PARTS_H

#include "coll/run/team.h"

struct hs_team_waiting {
    struct hs_team *team;
    struct hs_ticket *ticket;           /* done, or ... */
    const struct hs_signature *reserve; /* ... memory is back in its reserve, or ... */
    MPI_Request *request;               /* ... MPI has completed it, or ... */
    int64_t number;                     /* ... nothing up to this number is under way and ... */
    int native;                         /* ... no collective of MPI's that is done in several pieces, or ... */
    int pool;                           /* ... nothing of devices is under way */
};
/* hs_advance of a struct hs_team_waiting. */
hsumma_status hs_team_advance(void *waiting, int *worked, int *done);

/* team_prepare.c */
struct hs_signature_maker hs_team_maker(struct hs_team *team);
/* Moves a signature to the front, or finds none. */
struct hs_signature *hs_team_find(struct hs_team *team, const struct hs_call *call);
/* What stands in for the caller's memory: for a contribution that lies in out, and for calls on devices. */
hsumma_status hs_team_need_copy(struct hs_team *team, struct hs_operation *operation, const struct hs_call *call,
                                struct hs_message *message);
/* Prepares a new kind of call, or checks an old one again, on all ranks together. */
hsumma_status hs_team_prepare(struct hs_team *team, const struct hs_call *call, struct hs_signature **signature,
                              hsumma_status mine, int about, struct hs_message *message);

/* Whatever is under way ends with the error.  The other ranks get a notice where it is a device's, not MPI's. */
void hs_team_fail(struct hs_team *team, hsumma_status status);
/* Looks whether another rank has sent a notice. */
void hs_team_listen(struct hs_team *team);

#endif
