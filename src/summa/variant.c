#include "summa/problem.h"

#include "dist/overlap.h"

#include <string.h>

const int hs_operand_dims[3][2] = {[HS_A] = {HS_M, HS_K}, [HS_B] = {HS_K, HS_N}, [HS_C] = {HS_M, HS_N}};

/* The stored (and grid) axis of a dimension in an operand; -1 if the operand does not have it. */
static int axis_of(const struct hs_problem *problem, int operand, int dim)
{
    for (int logical = 0; logical < 2; logical++)
        if (hs_operand_dims[operand][logical] == dim)
            return hs_view_stored(&problem->view[operand], logical);
    return -1;
}

/*
 * Sets give_max and take_max of an exchange.  If both layouts are on one grid axis, [0] does not count indices that
 * stay on their process; on different axes a process keeps indices of some panels only, so all are counted.  [1] counts
 * all, because the exchange goes to whole lines.
 */
static void bound_exchange(struct hs_role *role, int takers)
{
    int wanted_by = takers / role->want->nprocs, served = (takers + role->replicas - 1) / role->replicas;
    int64_t own = hs_axis_count_max(role->own), want = hs_axis_count_max(role->want);
    role->give_max[0] = role->give_max[1] = role->replicas > 1 ? want * served : own * wanted_by;
    role->take_max[0] = role->take_max[1] = want;
    if (role->own_axis != role->want_axis)
        return;
    role->give_max[0] = role->take_max[0] = 0;
    for (int proc = 0; role->replicas == 1 && proc < role->own->nprocs; proc++) {
        int64_t held = hs_axis_count(role->own, proc), wanted = hs_axis_count(role->want, proc);
        int64_t stays = hs_overlap_count(role->own, proc, role->want, proc);
        int64_t gives = held * wanted_by - stays;
        role->give_max[0] = gives > role->give_max[0] ? gives : role->give_max[0];
        role->take_max[0] = wanted - stays > role->take_max[0] ? wanted - stays : role->take_max[0];
    }
}

/* Whether every taker of the exchange receives all its pinned indices from one holder. */
static int has_single_holders(const struct hs_role *role)
{
    for (int i = 0; role->replicas == 1 && i < role->want->nprocs; i++) {
        int64_t wanted = hs_axis_count(role->want, i);
        if (wanted == 0)
            continue;
        int holder = hs_axis_owner(role->own, hs_axis_global(role->want, i, 0));
        if (hs_overlap_count(role->own, holder, role->want, i) < wanted)
            return 0;
    }
    return 1;
}

static struct hs_role role_of(const struct hs_problem *problem, const struct hs_variant *variant, int operand)
{
    struct hs_role role = {0};
    if (operand == variant->stationary)
        return role;
    const struct hs_view *view = &problem->view[operand];
    const int *dims = hs_operand_dims[operand];
    role.moves = 1;
    role.pinned = dims[0] == variant->looped ? dims[1] : dims[0];
    role.own_axis = axis_of(problem, operand, role.pinned);
    role.want_axis = variant->axis_of[role.pinned];
    role.line_axis = 1 - role.want_axis;
    role.loop_axis = 1 - role.own_axis;
    role.own = &view->axis[role.own_axis];
    role.want = variant->axis[role.pinned];
    role.looped = &view->axis[role.loop_axis];
    int alone = problem->grid.extent[0] * problem->grid.extent[1] == 1;
    role.exchanged = !alone && (role.own_axis != role.want_axis || !hs_axis_same(role.own, role.want));
    role.replicas = problem->grid.extent[role.own_axis] / role.own->nprocs;
    if (role.exchanged) {
        bound_exchange(&role, problem->grid.extent[role.want_axis]);
        role.direct = has_single_holders(&role);
    }
    return role;
}

/* Whether all processes of a grid row, or of a grid column, have the same part of an operand. */
static int replicated(const struct hs_problem *problem, int operand)
{
    for (int axis = 0; axis < 2; axis++)
        if (problem->view[operand].axis[axis].nprocs != problem->grid.extent[axis])
            return 1;
    return 0;
}

hsumma_status hs_variant_make(const struct hs_problem *problem, int stationary, struct hs_variant *variant,
                              struct hs_message *message)
{
    memset(variant, 0, sizeof *variant);
    variant->stationary = stationary;
    variant->ordered = problem->scalar->ordered;
    if (variant->ordered && stationary != HS_C)
        return hs_fail(message, HSUMMA_ERR_UNSUPPORTED, "bits=anywhere: expected stationary=C or auto");
    for (int dim = 0; dim < 3; dim++) {
        int axis = axis_of(problem, stationary, dim);
        if (axis < 0) {
            variant->looped = dim;
        } else {
            variant->axis_of[dim] = axis;
            variant->axis[dim] = &problem->view[stationary].axis[axis];
        }
    }
    for (int operand = 0; operand < 3; operand++)
        variant->role[operand] = role_of(problem, variant, operand);
    if (stationary == HS_C || (!replicated(problem, stationary) && !replicated(problem, HS_C)))
        return HSUMMA_OK;
    return hs_fail(message, HSUMMA_ERR_UNSUPPORTED,
                   "%c is replicated over process rows or columns (rsrc or csrc is -1); expected stationary=C or auto",
                   replicated(problem, stationary) ? "ABC"[stationary] : 'C');
}

/* Equal parts of one block each, the first on the owner of the first block. */
static struct hs_axis divide(const struct hs_axis *own, int nprocs)
{
    enum { UNIT = 8, LONG = 4 * UNIT };
    int64_t length = own->n / nprocs + (own->n % nprocs > 0);
    if (length >= LONG)
        length = (length + UNIT - 1) / UNIT * UNIT;
    length = length > 0 ? length : 1;
    return hs_axis_make(own->n, length, length, own->nprocs == nprocs ? own->src : 0, nprocs);
}

void hs_variant_divide(const struct hs_problem *problem, struct hs_variant *variant)
{
    memset(variant, 0, sizeof *variant);
    variant->stationary = HS_C;
    variant->looped = HS_K;
    variant->even = 1;
    for (int i = 0; i < 2; i++) {
        int dim = hs_operand_dims[HS_C][i];
        variant->part[i] = divide(&problem->view[HS_C].axis[i], problem->grid.extent[i]);
        variant->axis_of[dim] = i;
        variant->axis[dim] = &variant->part[i];
    }
    for (int operand = 0; operand < 3; operand++)
        variant->role[operand] = role_of(problem, variant, operand);
}
