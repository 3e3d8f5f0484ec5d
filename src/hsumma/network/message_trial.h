/* Timed messages between the two ranks of a pair. */
#ifndef HS_HSUMMA_NETWORK_MESSAGE_TRIAL_H
#define HS_HSUMMA_NETWORK_MESSAGE_TRIAL_H

#include "base/status.h"

#include <mpi.h>

struct hs_message_trial {
    MPI_Comm comm;
    int peer, first; /* the other rank of the pair, and whether this one begins */
    int64_t bytes;   /* of one message */
    int length;      /* messages in one direction that count as one call; 0: a call is a round trip */
    char *out, *in;  /* memory for one message each */
};

/* Seconds of `calls` calls from a common start of both ranks; round trips count half.  A rank whose MPI has failed
 * continues, so that its peer does not wait for it.  HSUMMA_ERR_MPI. */
hsumma_status hs_message_trial_run(const struct hs_message_trial *trial, int calls, double *seconds);

/* Completes requests by polling and yielding, as the library does.  MPICH's MPI_Wait never yields.  HSUMMA_ERR_MPI. */
hsumma_status hs_wait_for_requests(MPI_Request *request, int count);

#endif
