/* Timed messages between the two ranks of a pair. */
#ifndef HS_HSUMMA_NETWORK_MESSAGE_TRIAL_H
#define HS_HSUMMA_NETWORK_MESSAGE_TRIAL_H

#include "base/wait.h"

#include <mpi.h>

struct hs_message_trial {
    MPI_Comm comm;
    const struct hs_watch *watch; /* NULL, or looks after the waits */
    int peer, first;              /* the other rank of the pair, and whether this rank begins */
    int64_t bytes;                /* bytes of one message */
    int length;     /* number of messages in one direction that form a call; 0 if a call is a round trip */
    char *out, *in; /* memory for one message each */
};

/* Measures the seconds of `calls` calls from a common start of both ranks; for round trips half the seconds.  A rank
 * continues after an MPI error, so that its peer does not wait for it.  HSUMMA_ERR_MPI. */
hsumma_status hs_message_trial_run(const struct hs_message_trial *trial, int calls, double *seconds);

/* Completes requests by polling and yielding, as the library does; watch: NULL, or looks after the wait.  MPICH's
 * MPI_Wait never yields.  HSUMMA_ERR_MPI. */
hsumma_status hs_wait_for_requests(MPI_Request *request, int count, const struct hs_watch *watch);

#endif
