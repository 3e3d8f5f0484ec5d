/*
 * Agreement by our own collectives (coll/node/verdict.h): nonblocking, and beside whatever else is under way.
 *
 * An allreduce carries the votes.  Where ranks of a node share a directory they leave their votes there, without a
 * message: on one node every rank reads them all; over several the leader of each node, the first of the group there,
 * joins those of its mates, the leaders alone run the allreduce, and each leaves the verdict to its mates.
 */
#ifndef HS_COLL_RUN_AGREE_H
#define HS_COLL_RUN_AGREE_H

#include "coll/node/directory.h"
#include "coll/run/executor.h"

/* All memory is taken by hs_agreement_init, so that agreeing cannot fail for want of it. */
struct hs_agreement {
    struct hs_comm *comm;
    struct hs_group group; /* of the allreduce; size 0: this rank sends no messages */
    int tag;
    struct hs_list list;
    struct hs_instance instance;
    void *work;
    struct hs_directory *directory; /* NULL: all votes go by message */
    int *places;                    /* of the leaders in the group's table; then numbers in the directory */
    const int *mate;                /* in the directory: the ranks whose ballots this one reads, */
    int mates, met;                 /* how many there are; how many have been read */
    uint64_t arrival;
    unsigned polls;
    struct hs_ballot mine, result, scratch[2];
};

/* directory: of this rank's node, where every node of the group has one, which only agreements of this group use; they
 * start in one order on all members.  NULL: none.  Local; HSUMMA_ERR_MEMORY. */
hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                struct hs_directory *directory, enum hs_agreement_number number,
                                const struct hs_allocator *memory);
void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory);

/*
 * Start, advance (hs_advance) until it is done, then the verdict.  HSUMMA_ERR_DEVICE: a member has sent a notice;
 * HSUMMA_ERR_MPI: MPI has failed, here or on a rank of this node.
 */
hsumma_status hs_agreement_start(struct hs_agreement *agreement, struct hs_vote mine);
hsumma_status hs_agreement_advance(void *agreement, int *worked, int *done);
struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement);
/* Whether this rank waits for others of its node alone, so that it may sleep until they signal. */
int hs_agreement_awaits_mates(const struct hs_agreement *agreement);
/* All three, blocking.  What fails on the way is a verdict of this rank. */
struct hs_verdict hs_agree(struct hs_agreement *agreement, struct hs_vote mine);

#endif
