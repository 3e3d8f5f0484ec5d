/* The memory of a case. Allocations that have not been freed are released at the end of the case. */
#ifndef HS_TESTS_INTERLEAVE_POOL_H
#define HS_TESTS_INTERLEAVE_POOL_H

#include "base/memory.h"

extern const struct hs_allocator case_pool;
void case_pool_empty(void);

#endif
