/* The bytes that each rank sends to each other in a collective, from its step lists. */
#ifndef HS_COLL_MODEL_FLOWS_H
#define HS_COLL_MODEL_FLOWS_H

#include "coll/schedule/registry.h"

struct hs_rank_flow {
    int from, to;
    int64_t bytes;
};

/*
 * Lists the flows of all ranks; shape->rank is ignored. The caller frees *flow with hs_put. Errors: those of hs_build;
 * nothing stays allocated then.
 */
hsumma_status hs_flows(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_rank_flow **flow, int *count);

#endif
