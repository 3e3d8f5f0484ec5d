/*
 * Votes and verdicts: each member of a group votes, and all get the same verdict, so no member waits for one that has
 * failed. Votes are combined by MPI until the library's own collectives can run (agree_mpi.h), and by coll/run/agree.h
 * after that.
 */
#ifndef HS_COLL_NODE_VERDICT_H
#define HS_COLL_NODE_VERDICT_H

#include "base/status.h"

#include <stdint.h>

/* A vote. With all fields 0, it is a vote to proceed. */
struct hs_vote {
    hsumma_status status;
    int about;     /* the subject of an error, a code defined by the caller, 0..255 */
    int64_t value; /* a number, whose maximum over all votes is in the verdict */
    int64_t hash;  /* hash of data that must be equal on all members */
};

/* The result: the worst status; of the votes with this status, the highest `about`; of those, the lowest rank. */
struct hs_verdict {
    hsumma_status status;
    int about;
    int rank;      /* rank in the communicator of the member that cast this vote */
    int64_t value; /* the largest value of all votes */
    int alike;     /* true if all votes have the same hash */
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
 * unlike.c: a verdict only shows that ranks disagree, or that one has failed. In either case further agreements
 * transfer the text of the error, a few letters each, so that the other ranks can return the same message.
 */

/* A group that can agree: `agree` runs one agreement with this rank's vote, and blocks. */
struct hs_voters {
    struct hs_verdict (*agree)(void *state, struct hs_vote mine);
    void *state;
    int rank; /* this rank, numbered as in hs_verdict.rank */
};

/* An argument that must be equal on all ranks; name is NULL for the call itself. */
struct hs_given {
    const char *name, *of; /* the argument and the object it belongs to, as "m" and "A's descriptor"; of: or NULL */
    int64_t number;
    const char *text; /* the value as the message shows it, which must also be equal; NULL: it shows `number` */
    int chosen;       /* 1 if the library computed the value from the arguments and the environment */
};

/*
 * Explains a disagreement: sets the message to the first argument of the list that differs (or to the names of the
 * calls, if they differ), with the values of two ranks, and returns HSUMMA_ERR_ARGUMENT. If an agreement fails,
 * returns its status. Ranks in the same call have lists of the same length.
 */
hsumma_status hs_unlike_explain(const struct hs_voters *voters, const char *call, const struct hs_given *given,
                                int count, struct hs_message *message);

/*
 * Gives the message of verdict.rank, the rank that has failed, to all ranks with another status than the verdict's, and
 * returns the verdict's status, or that of an agreement that fails. If the verdict's status is HSUMMA_ERR_MPI or a
 * higher one, the message cannot be sent; those ranks then report only verdict.rank and the status. mine: this rank's
 * status.
 */
hsumma_status hs_unlike_report(const struct hs_voters *voters, hsumma_status mine, struct hs_verdict verdict,
                               struct hs_message *message);

#endif
