/* Memory of a case: memory that is not freed is released with the case. */
#ifndef HS_TESTS_INTERLEAVE_POOL_H
#define HS_TESTS_INTERLEAVE_POOL_H

#include "base/memory.h"

extern const struct hs_allocator case_pool;
void case_pool_empty(void);

#endif
