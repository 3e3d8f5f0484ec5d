/*
 * MPI's messages between ranks that are objects of one process: MPI_Isend, MPI_Irecv and MPI_Testsome as the executor
 * calls them, in place of the library's.  Sends and receives match as MPI says; when a message arrives, and when a rank
 * learns of it, is drawn.  Buffers are watched while MPI may use them.
 */
#ifndef HS_TESTS_INTERLEAVE_NETWORK_H
#define HS_TESTS_INTERLEAVE_NETWORK_H

#include <stdint.h>
#include <stdio.h>

/* Lies that MPI tells; or its calls fail on one rank from some time on. */
enum network_lie { NETWORK_HONEST, NETWORK_SENDS_EARLY, NETWORK_RECEIVES_EARLY, NETWORK_FAILS };

struct network_manner {
    int eager;    /* of 8 messages: sent from a copy, so that the send is complete at once */
    int withheld; /* of 8 completed requests that a test could return: it does not this time */
    int order;    /* of arrival: negative: the oldest first; positive: the newest first; 0: any */
    enum network_lie lie;
};

/* Forgets all messages; `random` is the state of a generator (support/random.h). */
void network_begin(const struct network_manner *manner, uint64_t *random);
/* Who calls MPI from now on; returns who did before. */
int network_as(int rank);
/* A message arrives; 0: none is under way whose receive has been posted. */
int network_deliver(void);
int network_can_deliver(void);
/* No request is withheld any more. */
void network_hurry(int hurry);
/* The rank on which MPI has failed, or -1. */
int network_failed(void);
/* Whether a request was withheld from a rank since the last call. */
int network_withheld(int rank);
/* What is wrong with the use of a buffer, or with what is left over when all ranks are done; NULL: nothing. */
const char *network_fault(void);
const char *network_left_over(void);
/* What a rank waits for. */
void network_describe(int rank, char *text, size_t room);

#endif
