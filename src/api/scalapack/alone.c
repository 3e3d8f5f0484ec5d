/*
 * Products whose matrices all lie on one process: that process multiplies, the others return, and no process waits for
 * another, as in PBLAS. These products need no context; creating one would be collective.
 */
#include "api/scalapack/shim.h"

#include "base/threads.h"
#include "dist/cover.h"

void hs_repeat_locally(const struct hs_pgemm *call, const struct hs_repeated *how, int threads)
{
    if (how->local != HS_MINE)
        return;
    int before = hs_threads_set(threads);
    const struct hs_scalar *scalar = &hs_scalars[call->type];
    char op[2];
    for (int x = 0; x < 2; x++)
        op[x] = *call->trans[x] >= 'a' ? (char)(*call->trans[x] - 'a' + 'A') : *call->trans[x];
    scalar->gemm(op[0], op[1], *call->extent[0], *call->extent[1], *call->extent[2], call->alpha,
                 (const char *)call->data[0] + how->offset[0], how->ld[0], (const char *)call->data[1] + how->offset[1],
                 how->ld[1], call->beta, (char *)call->data[2] + how->offset[2], how->ld[2]);
    hs_threads_restore(before);
}

int hs_do_locally(struct hs_shim *shim, const struct hs_pgemm *call, const struct hs_arguments *args)
{
    struct hs_repeated how = {.plan = NULL, .local = HS_MINE};
    struct hs_view view[3];
    for (int x = 0; x < 3; x++) {
        view[x] = hs_argument_view(args, x);
        how.ld[x] = view[x].ld;
        how.offset[x] = (size_t)(view[x].origin[0] + view[x].origin[1] * view[x].ld) * hs_scalars[call->type].size;
    }
    for (int axis = 0; axis < 2; axis++) {
        const struct hs_axis *const all[3] = {&view[0].axis[axis], &view[1].axis[axis], &view[2].axis[axis]};
        struct hs_cover cover = hs_cover_make(all, 3, args->shape[axis]);
        if (cover.length > 1)
            return 0;
        if (cover.start != args->coord[axis])
            how.local = HS_OTHERS;
    }
    hs_repeat_locally(call, &how, shim->threads);
    hs_remember(shim, call, &how);
    return 1;
}
