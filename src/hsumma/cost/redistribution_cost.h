/* The predicted cost of a redistribution: the load of its busiest node and busiest process. */
#ifndef HS_HSUMMA_COST_REDISTRIBUTION_COST_H
#define HS_HSUMMA_COST_REDISTRIBUTION_COST_H

#include "hsumma/cost/profile.h"
#include "summa/redistribute/redistribution.h"

/*
 * Seconds of a redistribution of elements of `bytes` bytes between processes of a communicator of `size`.  Four nodes
 * represent all: those of the first and the last process of the sources and of the target.  topology: of the
 * communicator; NULL: one node, or each process on its own, as the profile says.  All links are assumed busy from the
 * first round to the last.  HSUMMA_ERR_MEMORY.
 */
hsumma_status hs_redistribution_seconds(const struct hs_profile *profile, const struct hs_topology *topology, int size,
                                        const struct hs_layout *source, int sources, const struct hs_layout *target,
                                        size_t bytes, const struct hs_allocator *memory, double *seconds);

#endif
