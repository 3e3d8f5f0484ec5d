/*
 * Notices: a rank on which a device fails tells all others, unasked, by message; whoever waits for it gives up.  MPI is
 * well then.  Where MPI has failed nobody can be told.
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

/* Sends it to the other members of the group; without memory for it nobody is told. */
void hs_notice_send(const struct hs_comm *comm, const struct hs_group *group, struct hs_notice notice,
                    const struct hs_allocator *memory);
/* Whether one has come, in a communicator with a device; it is left for hs_notice_receive. */
int hs_notice_has_come(const struct hs_comm *comm);
/* Takes one if there is any, and lets MPI move other messages: where memory is shared nothing else may. */
int hs_notice_receive(const struct hs_comm *comm, struct hs_notice *notice);

#endif
