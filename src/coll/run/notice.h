/*
 * Notices: a rank whose device fails, or which finds that a mate's process has ended, sends all others an unsolicited
 * message, and ranks that wait for it return an error. MPI still works in these cases; if MPI itself has failed, no
 * notice can be sent.
 */
#ifndef HS_COLL_RUN_NOTICE_H
#define HS_COLL_RUN_NOTICE_H

#include "base/memory.h"
#include "coll/node/comm.h"
#include "dist/grid.h"

struct hs_notice {
    hsumma_status status;
    struct hs_message text;
};

/* Sends a notice to the other members of the group; does nothing if memory is exhausted. */
void hs_notice_send(const struct hs_comm *comm, const struct hs_group *group, struct hs_notice notice,
                    const struct hs_allocator *memory);
/* True if a notice has arrived that is not of a lost process. Always 0 in a communicator without a device. */
int hs_notice_has_come(const struct hs_comm *comm);
/* Returns 1 if a notice has arrived. Also lets MPI progress where ranks otherwise use only shared memory. */
int hs_notice_receive(const struct hs_comm *comm, struct hs_notice *notice);
/* Receives a notice of a lost process (HSUMMA_ERR_PEER) only. */
int hs_notice_receive_loss(const struct hs_comm *comm, struct hs_notice *notice);

#endif
