/*
 * A team: ranks that run collectives together, with what they need: a communicator, shared memory, the choice of
 * algorithms, prepared calls, and the calls in progress.
 *
 * The first call of a kind (collective, sizes, root, algorithm) is prepared by all ranks and agreed on; later ones
 * start immediately. The cache of kinds has the same contents on all ranks, since it depends only on the sequence of
 * calls.
 */
#ifndef HS_COLL_RUN_TEAM_H
#define HS_COLL_RUN_TEAM_H

#include "coll/run/agree.h"
#include "coll/run/signature.h"

/* Advances something else while the team waits. */
typedef void hs_drive(void *state, int *worked);

struct hs_team {
    struct hs_comm *comm;
    const struct hs_allocator *memory;
    struct hs_group group;
    struct hs_agreement agreement;
    struct hs_selector selector;
    const struct hs_compute *compute; /* cost model of a simulated run; NULL: a real run */
    int64_t segment;
    int check_always;
    MPI_Comm native; /* for row "mpi"; created when first needed */

    struct hs_signature *signature; /* list, most recently used first */
    int signatures;
    int64_t cost; /* bytes of all signatures */

    struct hs_operation *first, *last; /* in progress, in the order of their start */
    int64_t number;                    /* number of calls so far */
    hs_drive *drive;
    void *driven;
    int idle;   /* consecutive polls without progress */
    int broken; /* set after an MPI or device error, here or elsewhere: */
    hsumma_status status;
    struct hs_message failure; /* of a device; "": nothing is known */
};

/* Afterwards the caller may set machine and own of the selector, segment, check_always and drive. */
hsumma_status hs_team_init(struct hs_team *team, struct hs_comm *comm, const struct hs_group *group,
                           const struct hs_allocator *memory);
/* No call may be in progress, unless MPI has failed: then memory that MPI may still write to is not freed. */
void hs_team_free(struct hs_team *team);
/* Call before MPI_Comm_free of the team's communicator; collective. */
void hs_team_leave_mpi(struct hs_team *team);

/*
 * Starts a call. mine, about, message: what hs_call_read found. After HSUMMA_OK the ticket says when the call is done;
 * ticket NULL: the caller has no memory for one.
 */
hsumma_status hs_team_start(struct hs_team *team, const struct hs_call *call, hsumma_status mine, int about,
                            struct hs_ticket *ticket, struct hs_message *message);
/* Advances all calls in progress, and after some unsuccessful polls also other work (drive). */
void hs_team_poll(struct hs_team *team, int *worked);
/* Waits for a ticket and returns its status. */
hsumma_status hs_team_wait(struct hs_team *team, struct hs_ticket *ticket);
/*
 * Waits for an MPI request while calls progress, until it completes or the team fails; also for an uninitialised team.
 */
hsumma_status hs_team_await(struct hs_team *team, MPI_Request *request);
/* Describes what would serve the call. */
hsumma_status hs_team_describe(struct hs_team *team, const struct hs_call *call, char *text, size_t size,
                               struct hs_message *message);

#endif
