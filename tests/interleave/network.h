/*
 * MPI_Isend, MPI_Irecv and MPI_Testsome for ranks that are objects of one process; they replace the MPI library's
 * functions. Matching follows the MPI standard; when a message arrives, and when a rank sees it, is random. Buffers
 * are checked while MPI may use them.
 */
#ifndef HS_TESTS_INTERLEAVE_NETWORK_H
#define HS_TESTS_INTERLEAVE_NETWORK_H

#include <stdint.h>
#include <stdio.h>

/* Faults of MPI: none; sends complete early; receives complete early; on one rank a random call and all later ones
 * fail. */
enum network_lie { NETWORK_HONEST, NETWORK_SENDS_EARLY, NETWORK_RECEIVES_EARLY, NETWORK_FAILS };

struct network_manner {
    int eager;    /* probability in eighths that a message is buffered, so that its send completes at once */
    int withheld; /* probability in eighths that MPI_Testsome does not yet return a completed request */
    int order;    /* order of arrival: negative: oldest first; positive: newest first; 0: random */
    enum network_lie lie;
};

/* Discards all messages and starts a new case; `random` is the generator's state (support/random.h). */
void network_begin(const struct network_manner *manner, uint64_t *random);
/* Sets the rank that calls MPI; returns the previous one. */
int network_as(int rank);
/* Delivers one message. Returns 0 if no matched message is in flight. */
int network_deliver(void);
int network_can_deliver(void);
/* While `hurry` is set, MPI_Testsome returns every completed request. */
void network_hurry(int hurry);
/* The rank on which MPI has failed, or -1. */
int network_failed(void);
/* Whether MPI_Testsome has withheld a completed request from the rank since the last call of this function. */
int network_withheld(int rank);
/* Both functions describe the first wrong use of a buffer or request, or return NULL. network_left_over, called after
 * all turns, also reports a request that was never completed. */
const char *network_fault(void);
const char *network_left_over(void);
/* Lists a rank's sends and receives that no peer has matched yet. */
void network_describe(int rank, char *text, size_t room);

#endif
