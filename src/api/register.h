/* Algorithms that the user has registered. */
#ifndef HS_API_REGISTER_H
#define HS_API_REGISTER_H

#include "coll/schedule/registry.h"

void hs_own_algorithms_free(struct hs_registry *own, const struct hs_allocator *memory);

#endif
