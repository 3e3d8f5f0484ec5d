/*
 * Agreement by our own collectives (coll/node/verdict.h): nonblocking, and beside whatever else is under way.
 *
 * Where the group shares a directory the votes are left there, without a message; else an allreduce carries them.
 */
#ifndef HS_COLL_RUN_AGREE_H
#define HS_COLL_RUN_AGREE_H

#include "coll/node/directory.h"
#include "coll/run/executor.h"

/* All memory is taken by hs_agreement_init, so that agreeing cannot fail for want of it. */
struct hs_agreement {
    struct hs_comm *comm;
    struct hs_group group;
    int tag;
    struct hs_list list;
    struct hs_instance instance;
    void *work;
    struct hs_directory *directory; /* NULL: votes go by message */
    int met;                        /* members whose votes have been read there */
    unsigned polls;
    struct hs_ballot mine, result, scratch[2];
};

hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                enum hs_agreement_number number, const struct hs_allocator *memory);
void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory);

/* Start, advance (hs_advance) until it is done, then the verdict.  HSUMMA_ERR_DEVICE: a member has sent a notice. */
hsumma_status hs_agreement_start(struct hs_agreement *agreement, struct hs_vote mine);
hsumma_status hs_agreement_advance(void *agreement, int *worked, int *done);
struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement);
/* All three, blocking.  What fails on the way is a verdict of this rank. */
struct hs_verdict hs_agree(struct hs_agreement *agreement, struct hs_vote mine);

#endif
