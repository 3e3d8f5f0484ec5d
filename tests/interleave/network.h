/*
 * MPI_Isend, MPI_Irecv and MPI_Testsome for ranks that are objects of one process, replacing the MPI library's.
 * Matching follows the MPI standard; when a message arrives, and when a rank sees it, is random. Buffers are checked
 * while MPI may use them.
 */
#ifndef HS_TESTS_INTERLEAVE_NETWORK_H
#define HS_TESTS_INTERLEAVE_NETWORK_H

#include <stdint.h>
#include <stdio.h>

/* Ways in which MPI misbehaves: it completes requests early, or its calls fail on one rank from some time on. */
enum network_lie { NETWORK_HONEST, NETWORK_SENDS_EARLY, NETWORK_RECEIVES_EARLY, NETWORK_FAILS };

struct network_manner {
    int eager;    /* in eighths of the messages: buffered, so that the send completes at once */
    int withheld; /* in eighths of completed requests: a test does not return them yet */
    int order;    /* of arrival: negative: oldest first; positive: newest first; 0: any */
    enum network_lie lie;
};

/* Forgets all messages; `random` is the generator's state (support/random.h). */
void network_begin(const struct network_manner *manner, uint64_t *random);
/* Sets the rank that calls MPI; returns the previous one. */
int network_as(int rank);
/* Delivers a message; 0: none whose receive has been posted is in flight. */
int network_deliver(void);
int network_can_deliver(void);
/* While set, no request is withheld. */
void network_hurry(int hurry);
/* The rank on which MPI has failed, or -1. */
int network_failed(void);
/* Whether a request was withheld from a rank since the last call. */
int network_withheld(int rank);
/* Errors in the use of a buffer, or in what is left when all ranks are done; NULL: none. */
const char *network_fault(void);
const char *network_left_over(void);
/* Describes what a rank waits for. */
void network_describe(int rank, char *text, size_t room);

#endif
