/*
 * A team: ranks that run collectives together, and what that needs: a communicator, shared memory, the choice of
 * algorithms, prepared calls, and what is under way.
 *
 * The first call of a kind (collective, sizes, root, word) is prepared by all ranks and agreed on; later ones start at
 * once.  The cache of kinds is alike on all ranks, because it looks at nothing but the sequence of calls.
 */
#ifndef HS_COLL_RUN_TEAM_H
#define HS_COLL_RUN_TEAM_H

#include "coll/run/agree.h"
#include "coll/run/signature.h"

/* Moves something else forward while the team waits. */
typedef void hs_drive(void *state, int *worked);

struct hs_team {
    struct hs_comm *comm;
    const struct hs_allocator *memory;
    struct hs_group group;
    struct hs_agreement agreement;
    struct hs_selector selector;
    const struct hs_compute *compute; /* of a simulated run; NULL: a real one */
    int64_t segment;
    int check_always;
    MPI_Comm native; /* for MPI's own collectives; made when it is first needed */

    struct hs_signature *signature; /* the most recently used first */
    int signatures;
    int64_t cost; /* bytes of them all */

    struct hs_operation *first, *last; /* under way, in the order of their start */
    int64_t number;                    /* of calls so far */
    hs_drive *drive;
    void *driven;
    int idle;   /* times in a row that nothing has moved */
    int broken; /* MPI or a device has failed, here or elsewhere: */
    hsumma_status status;
    struct hs_message failure; /* of a device; "": nothing is known */
};

/* The caller sets machine and own of the selector, segment, check_always and drive as it likes afterwards. */
hsumma_status hs_team_init(struct hs_team *team, struct hs_comm *comm, const struct hs_group *group,
                           const struct hs_allocator *memory);
/* Nothing may be under way, unless MPI has failed: then what it may still write to is left alone. */
void hs_team_free(struct hs_team *team);
/* Before MPI_Comm_free of the team's communicator; collective. */
void hs_team_leave_mpi(struct hs_team *team);

/*
 * Starts a call that hs_call_read has found to be `mine` (about, message).  After HSUMMA_OK the ticket says when it is
 * done; no ticket: there is no memory for one.
 */
hsumma_status hs_team_start(struct hs_team *team, const struct hs_call *call, hsumma_status mine, int about,
                            struct hs_ticket *ticket, struct hs_message *message);
/* Moves everything that is under way, and after some vain attempts whatever else there is (drive). */
void hs_team_poll(struct hs_team *team, int *worked);
/* Waits for a ticket and returns its status. */
hsumma_status hs_team_wait(struct hs_team *team, struct hs_ticket *ticket);
/* Waits for a request of MPI's while calls go on, unless the team fails; also of a team that was never made. */
hsumma_status hs_team_await(struct hs_team *team, MPI_Request *request);
/* What would serve the call. */
hsumma_status hs_team_describe(struct hs_team *team, const struct hs_call *call, char *text, size_t size,
                               struct hs_message *message);

#endif
