/* HSUMMA_EXPLAIN: one line for each distinct call. The explained calls are remembered here, because the plan cache
 * evicts plans. */
#include "api/scalapack/shim.h"

#include <inttypes.h>
#include <stdio.h>

void hs_explain(struct hs_shim *shim, const struct hs_request *request, const hsumma_plan *plan)
{
    int64_t hash = hs_request_hash(request, 0) ^ (plan != NULL);
    int64_t known = shim->seen_count < HS_SEEN ? shim->seen_count : HS_SEEN;
    if (!shim->reports)
        return;
    for (int64_t i = 0; i < known; i++)
        if (shim->seen[i] == hash)
            return;
    shim->seen[shim->seen_count++ % HS_SEEN] = hash;
    const int64_t *extent = request->extent;
    fprintf(stderr, "hsumma: %s m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " %c%c grid=%dx%d %s%s%s%s\n",
            hs_pgemm_name(request->type), extent[0], extent[1], extent[2], request->op[0], request->op[1],
            shim->grid->grid.extent[0], shim->grid->grid.extent[1], plan ? plan->line : "ScaLAPACK", plan ? " [" : "",
            plan ? plan->why : "", plan ? "]" : "");
}
