/*
 * Votes and verdicts: each member of a group votes, and all get one verdict, so that no member waits for one that has
 * failed.  Before our own collectives can be used MPI counts the votes (agree_mpi.h), afterwards coll/run/agree.h does.
 */
#ifndef HS_COLL_NODE_VERDICT_H
#define HS_COLL_NODE_VERDICT_H

#include "base/status.h"

#include <stdint.h>

/* Zero is a vote for going on, with nothing to say. */
struct hs_vote {
    hsumma_status status;
    int about;     /* of an error: what it is about, the caller's code, 0..255 */
    int64_t value; /* all get the largest */
    int64_t hash;  /* of what must be alike on all */
};

/* The worst status, then the highest `about`, then the lowest rank wins. */
struct hs_verdict {
    hsumma_status status;
    int about;
    int rank;      /* in the communicator: one that has voted so */
    int64_t value; /* the largest */
    int alike;     /* all have voted with the same hash */
};

/* Votes in words, of which the larger one wins, each by itself. */
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

/* The verdict where only this rank votes. */
static inline struct hs_verdict hs_verdict_alone(struct hs_vote vote, int rank)
{
    struct hs_ballot ballot = hs_ballot_of(vote, rank);
    return hs_ballot_verdict(&ballot);
}

#endif
