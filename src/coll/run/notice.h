/*
 * Notices: a rank whose device fails informs all others by an unsolicited message, and ranks that wait for it give up.
 * MPI still works in this case; if MPI itself has failed, no notice can be sent.
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
/* Whether a notice has arrived, in a communicator with a device; it is left for hs_notice_receive. */
int hs_notice_has_come(const struct hs_comm *comm);
/*
 * Receives a notice if there is one. Also lets MPI progress other messages, which nothing else may do if ranks
 * communicate only through shared memory.
 */
int hs_notice_receive(const struct hs_comm *comm, struct hs_notice *notice);

#endif
