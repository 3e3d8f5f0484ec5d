/*
 * A team: the ranks that run collective calls together, with their communicator, shared memory, choice of algorithms,
 * prepared calls, and calls in progress.
 *
 * All ranks prepare and agree on the first call of a kind (collective, sizes, root, algorithm); later calls of the kind
 * start immediately. The cache of kinds has the same contents on all ranks, since it depends only on the sequence of
 * calls.
 */
#ifndef HS_COLL_TEAM_TEAM_H
#define HS_COLL_TEAM_TEAM_H

#include "coll/run/agree.h"
#include "coll/team/signature.h"

#include <pthread.h>

/* A function that advances other work while the team waits. */
typedef void hs_drive(void *state, int *worked);

/* A communicator for the MPI steps of some ranks, by MPI or by one function of the caller. */
struct hs_joined {
    struct hs_joined *next;
    MPI_Comm comm;
    const struct hs_performer *performer; /* NULL for MPI */
    int size, rank[];
};

/*
 * Prices of copies that a process has measured, for each class of long broadcasts: seconds per byte of direct reads and
 * of copies through shared memory.  Zeroed memory knows none.  Several threads may use it.
 */
struct hs_copies {
    pthread_mutex_t lock;
    int ranks[HS_LONG_BROADCASTS]; /* of the team that measured; prices are for teams of as many ranks */
    double beta[HS_LONG_BROADCASTS][2];
};
/* Sets beta and returns 1 if the prices are known. */
int hs_copies_recall(struct hs_copies *copies, int class, int ranks, double beta[2]);
void hs_copies_remember(struct hs_copies *copies, int class, int ranks, const double beta[2]);

struct hs_team {
    struct hs_comm *comm;
    const struct hs_allocator *memory;
    struct hs_group group;
    struct hs_agreement agreement;
    struct hs_selector selector;
    const struct hs_compute *compute; /* cost of computation in a simulated run; NULL in a real run */
    int64_t segment;
    struct hs_copies *copies; /* of the process, if long broadcasts are to be chosen by it (measure.c); else NULL */
    int engaged;              /* 1 if this rank has other work in progress, which would falsify a measurement */
    int check_always;         /* 1: ranks agree on every call; 0: only on the first call of a kind */
    struct hs_joined *joined; /* communicators for MPI steps, created when first needed */

    struct hs_signature *signature; /* the cached kinds of calls, most recently used first */
    int signatures;
    int64_t cost; /* bytes of memory of all signatures */

    struct hs_operation *first, *last; /* calls in progress, in the order of their start */
    int64_t number;                    /* number of calls so far */
    hs_drive *drive;
    void *driven;
    int idle;   /* consecutive polls without progress */
    int broken; /* true after an MPI or device error, here or on another rank; status is then that error */
    hsumma_status status;
    struct hs_message failure; /* message of a device's error; "" if unknown */
};

/*
 * Initialises a team. After that the caller may set the other fields of the selector, and the team's segment, compute,
 * copies (NULL on all ranks or on none), engaged, check_always, drive and driven. Local. Errors: HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_team_init(struct hs_team *team, struct hs_comm *comm, const struct hs_group *group,
                           const struct hs_allocator *memory);
/* No call may be in progress. If MPI or a device has failed, nothing is freed, since MPI may still write to it. */
void hs_team_free(struct hs_team *team);
/* Ends all calls in progress with a status; the team can then only be freed. why: the text of their messages. */
void hs_team_give_up(struct hs_team *team, hsumma_status status, const char *why);
/* Frees the communicators for MPI steps; call it before MPI_Comm_free of the team's communicator. Collective. */
void hs_team_leave_mpi(struct hs_team *team);

/*
 * Starts a call, and sets its on_device. mine, about, message: the results of hs_call_read. After HSUMMA_OK, *ticket
 * shows when the call is done. ticket is NULL if the caller ran out of memory for it.
 */
hsumma_status hs_team_start(struct hs_team *team, struct hs_call *call, hsumma_status mine, int about,
                            struct hs_ticket *ticket, struct hs_message *message);
/*
 * Advances all calls in progress. After several unsuccessful polls (with wait=block, after each) also looks for notices
 * and advances other work (team->drive).
 */
void hs_team_poll(struct hs_team *team, int *worked);
/* Waits for a ticket and returns its status. */
hsumma_status hs_team_wait(struct hs_team *team, struct hs_ticket *ticket);
/* Advances the calls in progress once, and notes whom this rank waits for if they make no progress. */
void hs_team_test(struct hs_team *team, struct hs_ticket *ticket);
/* Waits for an MPI request while calls progress, or until the team fails. Before hs_team_init the team may be zero. */
hsumma_status hs_team_await(struct hs_team *team, MPI_Request *request);
/* Writes the algorithm that would serve the call, and the reason for this choice. */
hsumma_status hs_team_describe(struct hs_team *team, const struct hs_call *call, char *text, size_t size,
                               struct hs_message *message);

#endif
