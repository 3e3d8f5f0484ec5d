/* Messages between the two ranks of a pair, timed. */
#ifndef HS_HSUMMA_NETWORK_MESSAGE_TRIAL_H
#define HS_HSUMMA_NETWORK_MESSAGE_TRIAL_H

#include "base/status.h"

#include <mpi.h>

struct hs_message_trial {
    MPI_Comm comm;
    int peer, first; /* of this rank's pair: the other one, and whether this one begins */
    int64_t bytes;   /* of a message */
    int length;      /* messages of a stream, all one way, which counts as one call; 0: there and back */
    char *out, *in;  /* memory for one message each */
};

/* Seconds of `calls` calls from a common start of the two ranks; a call there and back counts one way.  A rank whose
 * MPI has failed continues, so that its peer does not wait for it.  HSUMMA_ERR_MPI. */
hsumma_status hs_message_trial_run(const struct hs_message_trial *trial, int calls, double *seconds);

/* Completes requests as the library does: polls, then yields.  MPI_Wait of MPICH never yields.  HSUMMA_ERR_MPI. */
hsumma_status hs_wait_for_requests(MPI_Request *request, int count);

#endif
