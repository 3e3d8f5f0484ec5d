/* Sums of checksums over all processes of a plan's grid, by an allreduce. */
#ifndef HS_HSUMMA_GUARD_TOTAL_H
#define HS_HSUMMA_GUARD_TOTAL_H

#include "coll/run/executor.h"

struct hs_total {
    struct hs_list list;
    struct hs_instance instance;
    void *work, *scratch;
    double *in, *out;        /* this process's contribution, and the sum */
    int64_t elements, bytes; /* elements: of a plane */
};

/* Makes a sum of `planes` planes of elements.  After an error, too, hs_total_free frees it.  HSUMMA_ERR_MEMORY, or an
 * error of hs_build. */
hsumma_status hs_total_make(struct hs_total *total, const hsumma_plan *plan, int64_t elements, size_t planes);
void hs_total_free(const struct hs_allocator *memory, struct hs_total *total);
/* Starts the sum in the plan's running execution; hs_progress advances its instance. */
hsumma_status hs_total_start(struct hs_total *total, hsumma_plan *plan);

#endif
