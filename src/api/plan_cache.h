/* The plans behind the one-call routines, remembered by their global arguments. */
#ifndef HS_API_PLAN_CACHE_H
#define HS_API_PLAN_CACHE_H

#include "hsumma/plan/plan.h"

struct hs_plan_cache *hs_plan_cache_new(const struct hs_allocator *memory);
void hs_plan_cache_free(hsumma_context *ctx, struct hs_plan_cache *cache);

/*
 * The plan for a request, from the cache or new. Eviction (least recently used) depends only on the sequence of calls,
 * which is the same on all processes.
 */
hsumma_status hs_plan_cached(hsumma_context *ctx, const struct hs_request *request, hsumma_plan **plan);

#endif
