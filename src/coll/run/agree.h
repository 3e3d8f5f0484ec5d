/*
 * Agreement by the library's own collectives (coll/node/verdict.h): nonblocking, and concurrent with anything else.
 *
 * An allreduce combines the votes. Where ranks of a node share a directory, they leave their votes there and send no
 * message: on one node every rank reads them all; over several nodes the leader of each node, the first of the group
 * there, combines the votes of its mates, only the leaders run the allreduce, and each leaves the verdict to its mates.
 */
#ifndef HS_COLL_RUN_AGREE_H
#define HS_COLL_RUN_AGREE_H

#include "coll/node/directory.h"
#include "coll/run/executor.h"

/* hs_agreement_init allocates all memory, so an agreement cannot fail for lack of it. */
struct hs_agreement {
    struct hs_comm *comm;
    struct hs_group group; /* members of the allreduce; size 0: this rank sends no messages */
    int tag;
    struct hs_list list;
    struct hs_instance instance;
    void *work;
    struct hs_directory *directory; /* NULL: all votes are sent as messages */
    int *places;                    /* one array: the leaders' places in the group's table, then `mate` */
    const int *mate;                /* mates' indices in the directory: the ranks whose ballots this one reads */
    int mates, met;                 /* mates: number of these; met: how many of their ballots have been read */
    uint64_t arrival;
    unsigned polls;
    struct hs_ballot mine, result, scratch[2];
};

/*
 * directory: of this rank's node, if every node of the group has one. Only agreements of this group may use it, started
 * in the same order on all members. NULL: none. Local; HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                struct hs_directory *directory, enum hs_agreement_number number,
                                const struct hs_allocator *memory);
void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory);

/*
 * Start an agreement, advance it (hs_advance) until it is done, then read the verdict. HSUMMA_ERR_DEVICE: a member has
 * sent a notice; HSUMMA_ERR_MPI: MPI has failed, here or on a rank of this node.
 */
hsumma_status hs_agreement_start(struct hs_agreement *agreement, struct hs_vote mine);
hsumma_status hs_agreement_advance(void *agreement, int *worked, int *done);
struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement);
/* Whether this rank waits only for others of its node, so that it may sleep until they signal. */
int hs_agreement_awaits_mates(const struct hs_agreement *agreement);
/*
 * Starts an agreement, waits for it and returns the verdict. A failure on the way gives a verdict of this rank alone.
 */
struct hs_verdict hs_agree(struct hs_agreement *agreement, struct hs_vote mine);

#endif
