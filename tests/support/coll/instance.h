/* An hs_advance function for one instance. */
#ifndef TESTS_SUPPORT_COLL_INSTANCE_H
#define TESTS_SUPPORT_COLL_INSTANCE_H

#include "coll/run/executor.h"

static inline hsumma_status instance_advance(void *state, int *worked, int *done)
{
    struct hs_instance *instance = state;
    hsumma_status status = hs_progress(instance, worked);
    *done = !instance->active;
    return status;
}

#endif
