/*
 * Votes and verdicts: each member of a group votes, and all get the same verdict, so no member waits for one that has
 * failed. MPI combines the votes until the library's own collectives can be used (agree_mpi.h), coll/run/agree.h
 * afterwards.
 */
#ifndef HS_COLL_NODE_VERDICT_H
#define HS_COLL_NODE_VERDICT_H

#include "base/status.h"

#include <stdint.h>

/* All zero is a vote to proceed. */
struct hs_vote {
    hsumma_status status;
    int about;     /* for an error: what it concerns, a code of the caller's, 0..255 */
    int64_t value; /* the verdict takes the maximum */
    int64_t hash;  /* of data that must be equal on all members */
};

/* The verdict takes the worst status, then the highest `about`, then the lowest rank. */
struct hs_verdict {
    hsumma_status status;
    int about;
    int rank;      /* rank in the communicator of one that voted for this status */
    int64_t value; /* the largest */
    int alike;     /* whether all voted with the same hash */
};

/* A vote encoded in words; ballots are combined by the maximum of each word. */
enum { HS_BALLOT_WORDS = 4 };
struct hs_ballot {
    int64_t word[HS_BALLOT_WORDS];
};

static inline struct hs_ballot hs_ballot_of(struct hs_vote vote, int rank)
{
    int64_t about = vote.status ? vote.about : 0;
    return (struct hs_ballot){
        {(int64_t)vote.status << 40 | about << 32 | (INT32_MAX - rank), vote.value, vote.hash, -vote.hash}};
}

static inline void hs_ballot_join(struct hs_ballot *into, const struct hs_ballot *other)
{
    for (int i = 0; i < HS_BALLOT_WORDS; i++)
        into->word[i] = into->word[i] > other->word[i] ? into->word[i] : other->word[i];
}

static inline struct hs_verdict hs_ballot_verdict(const struct hs_ballot *ballot)
{
    const int64_t *word = ballot->word;
    return (struct hs_verdict){.status = (hsumma_status)(word[0] >> 40),
                               .about = (int)(word[0] >> 32 & 255),
                               .rank = INT32_MAX - (int)(word[0] & INT32_MAX),
                               .value = word[1],
                               .alike = word[2] == -word[3]};
}

/* The verdict if only this rank votes. */
static inline struct hs_verdict hs_verdict_alone(struct hs_vote vote, int rank)
{
    struct hs_ballot ballot = hs_ballot_of(vote, rank);
    return hs_ballot_verdict(&ballot);
}

/*
 * unlike.c: where ranks disagree a verdict only says that they do, or that one has failed.  After it, and only then,
 * further agreements carry the texts of who gave what, a few letters each, so that every rank has the same message.
 */

/* Those that agree: one agreement with this rank's vote, blocking. */
struct hs_voters {
    struct hs_verdict (*agree)(void *state, struct hs_vote mine);
    void *state;
    int rank; /* this one, as verdicts have it */
};

/* Something that all ranks must give alike. */
struct hs_given {
    const char *name, *of; /* "m of A's descriptor"; of may be NULL */
    int64_t number;
    const char *text; /* what the message shows; both must be alike.  NULL: the number */
};

/*
 * The message and status of ranks that have given something unlike: the name of the call or the first of the list that
 * differs, and who gave which value of it.  Lists are as long on all ranks that are in the same call.
 */
hsumma_status hs_unlike_explain(const struct hs_voters *voters, const char *call, const struct hs_given *given,
                                int count, struct hs_message *message);

/* The message of a rank whose own verdict was better than the one of all: that of the rank that has failed. */
hsumma_status hs_unlike_report(const struct hs_voters *voters, hsumma_status mine, struct hs_verdict verdict,
                               struct hs_message *message);

#endif
