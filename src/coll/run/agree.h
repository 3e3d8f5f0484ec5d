/* Agreement: every member of a group contributes a verdict and all get the worst one, so that nobody is left waiting.
 */
#ifndef HS_COLL_RUN_AGREE_H
#define HS_COLL_RUN_AGREE_H

#include "coll/node/directory.h"
#include "coll/run/exec_mpi.h"

/* A verdict: a status, what it is about (the caller's code, 0..255), and who says so.  The worst wins, then the lowest
 * rank. A number of bytes travels along, and a hash of what all should have been told alike. */
struct hs_verdict {
    hsumma_status status;
    int detail;
    int rank;     /* in the communicator */
    int64_t size; /* the largest size that any member has told */
    int alike;    /* all have told the same hash */
};

/* All memory is taken by hs_agreement_init, so that agreeing cannot fail for want of it. */
struct hs_agreement {
    struct hs_comm *comm;
    struct hs_group group;
    int tag;
    struct hs_list list;
    struct hs_instance instance;
    void *work;
    struct hs_directory *directory;         /* verdicts alone go this way, without a message; NULL: none */
    unsigned vain;                          /* looks, in vain or not */
    int met;                                /* members whose verdicts have been read there */
    int64_t mine[4], result[4], scratch[8]; /* verdict, size, hash, -hash */
};

/* which: agreements that may be open at the same time need different numbers (of the tag). */
enum { HS_AGREE_CONTEXT, HS_AGREE_PLAN, HS_AGREE_TRIAL };
hsumma_status hs_agreement_init(struct hs_agreement *agreement, struct hs_comm *comm, const struct hs_group *group,
                                int which, const struct hs_allocator *memory);
void hs_agreement_free(struct hs_agreement *agreement, const struct hs_allocator *memory);

/* Nonblocking: start, advance (hs_advance) until it is done, then the verdict. */
hsumma_status hs_agreement_start(struct hs_agreement *agreement, hsumma_status status, int detail, int64_t size,
                                 int64_t hash);
hsumma_status hs_agreement_advance(void *agreement, int *worked, int *done);
struct hs_verdict hs_agreement_verdict(const struct hs_agreement *agreement);
/* Blocking, with messages. */
struct hs_verdict hs_agree(struct hs_agreement *agreement, hsumma_status status, int detail, int64_t size,
                           int64_t hash);

#endif
