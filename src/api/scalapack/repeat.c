/*
 * Repeated calls: programs repeat small products in loops, where reading the arguments and finding the plan would take
 * much of the time. The plan is the one last used, so the cache has not evicted it.
 */
#include "api/scalapack/shim.h"

#include <string.h>

/* Collects the values of all arguments except alpha, beta and the matrices. */
static int gather(const struct hs_pgemm *call, int raw[HS_RAW])
{
    int count = 0;
    raw[count++] = (int)call->type * 2 + call->interposed;
    raw[count++] = *call->trans[0];
    raw[count++] = *call->trans[1];
    for (int x = 0; x < 3; x++) {
        const int *desc = call->desc[x];
        int entries = desc[HS_DTYPE] == 1 ? HS_ENTRIES - 2 : HS_ENTRIES;
        raw[count++] = *call->extent[x];
        raw[count++] = *call->first[x][0];
        raw[count++] = *call->first[x][1];
        for (int i = 0; i < entries; i++)
            raw[count++] = desc[i];
    }
    return count;
}

/* Repeats only calls that are neither logged, explained, checked nor left to ScaLAPACK; hs_remember stores no others.
 */
int hs_repeat(struct hs_shim *shim, const struct hs_pgemm *call, hsumma_status *status)
{
    int raw[HS_RAW];
    const struct hs_repeated *last = &shim->last;
    if (!last->count || hs_scalars[call->type].is_zero(call->alpha))
        return 0;
    for (int x = 0; x < 3; x++)
        if (call->desc[x][HS_DTYPE] != 1 && call->desc[x][HS_DTYPE] != 2)
            return 0;
    int count = gather(call, raw);
    if (count != last->count || memcmp(raw, last->raw, (size_t)count * sizeof *raw) != 0)
        return 0;
    if (!last->plan) {
        hs_repeat_locally(call, last, shim->threads);
        return 1;
    }
    *status = hs_plan_run(last->plan, call->alpha, call->data, last->ld, call->beta);
    return 1;
}

void hs_remember(struct hs_shim *shim, const struct hs_pgemm *call, const struct hs_repeated *how)
{
    int plain = shim->log < 0 && !shim->explain && !shim->checks && shim->left == 0;
    shim->last = *how;
    shim->last.count = plain ? gather(call, shim->last.raw) : 0;
}
