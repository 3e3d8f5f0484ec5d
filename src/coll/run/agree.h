/*
 * Agreement (votes and verdicts: coll/node/verdict.h) by the library's own collectives: nonblocking, and possible while
 * other collectives or a plan are in progress.
 *
 * Without directories an allreduce over messages combines the votes of all members. If every node has a directory,
 * ranks store their votes in it. On one node every rank then reads all votes. On several nodes the leader of each node,
 * its first member in the group, combines the votes of its mates; only the leaders run the allreduce, and each stores
 * the verdict in its node's directory.
 */
#ifndef HS_COLL_RUN_AGREE_H
#define HS_COLL_RUN_AGREE_H

#include "coll/node/directory.h"
#include "coll/run/executor.h"

/* Resources for a sequence of agreements: all that they need, so that no agreement can run out of memory. */
struct hs_agreement {
    struct hs_comm *comm;
    struct hs_group group; /* members of the allreduce; its size is 0 if this rank sends no messages */
    int tag;
    struct hs_list list;
    struct hs_instance instance;
    void *work;
    struct hs_directory *directory; /* directory of this rank's node; NULL if all votes are sent as messages */
    int *places;                    /* memory for the leaders' places in the group's table, followed by mate[] */
    const int *mate;                /* the mates whose ballots this rank reads, as indices in the directory */
    int mates, met;                 /* mates: number of entries of mate[]; met: number of their ballots read so far */
    uint64_t arrival;
    unsigned polls;
    struct hs_ballot mine, result, scratch[2];
};

/*
 * Initialises an agreement. directory is that of this rank's node if every node of the group has one, else NULL. No
 * other group may use this directory for agreements, and all members must start the agreements that use it in the same
 * order. Local. Errors: HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                struct hs_directory *directory, enum hs_agreement_number number,
                                const struct hs_allocator *memory);
void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory);

/*
 * To agree, start an agreement, advance it (an hs_advance function) until it is done, then read the verdict. Errors:
 * HSUMMA_ERR_DEVICE if a member has sent a notice; HSUMMA_ERR_MPI or HSUMMA_ERR_PEER after a failure here or on a
 * rank of this node.
 */
hsumma_status hs_agreement_start(struct hs_agreement *agreement, struct hs_vote mine);
hsumma_status hs_agreement_advance(void *agreement, int *worked, int *done);
struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement);
/* True if this rank waits only for ranks of its node, so that it may sleep until they signal. */
int hs_agreement_awaits_mates(const struct hs_agreement *agreement);
/*
 * Starts an agreement and waits for it. If MPI or a device fails meanwhile, the verdict is that error with this rank.
 */
struct hs_verdict hs_agree(struct hs_agreement *agreement, struct hs_vote mine);

#endif
