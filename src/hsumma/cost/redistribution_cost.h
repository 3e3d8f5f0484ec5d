/* The predicted cost of a redistribution: the load of its busiest process, node and link. */
#ifndef HS_HSUMMA_COST_REDISTRIBUTION_COST_H
#define HS_HSUMMA_COST_REDISTRIBUTION_COST_H

#include "hsumma/cost/profile.h"
#include "summa/redistribute/redistribution.h"

/*
 * Computes the seconds of a redistribution.  bytes: bytes of an element; size: number of processes of the communicator;
 * limit: of the buffers' bytes (hs_redistribution_init).  A process must be a member of one source at most. Four nodes
 * represent all: the nodes of the first and the last process of the sources and of the target.  topology: that of the
 * communicator; NULL if all processes are on one node (profile->one_node is 1) or each is on its own (0). If the fabric
 * is known, the load of its busiest link counts, too.  All links are assumed busy from the first round to the last.
 * HSUMMA_ERR_MEMORY, HSUMMA_ERR_WORKSPACE.
 */
hsumma_status hs_redistribution_seconds(const struct hs_profile *profile, const struct hs_topology *topology, int size,
                                        const struct hs_layout *source, int sources, const struct hs_layout *target,
                                        size_t bytes, int64_t limit, const struct hs_allocator *memory,
                                        double *seconds);

#endif
