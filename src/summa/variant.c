#include "summa/problem.h"

#include <inttypes.h>
#include <string.h>

const int hs_operand_dims[3][2] = {[HS_A] = {HS_M, HS_K}, [HS_B] = {HS_K, HS_N}, [HS_C] = {HS_M, HS_N}};

/* The stored (and grid) axis of a dimension in an operand, or -1 if the operand does not have it. */
static int axis_of(const struct hs_problem *problem, int operand, int dim)
{
    for (int logical = 0; logical < 2; logical++)
        if (hs_operand_dims[operand][logical] == dim)
            return hs_view_stored(&problem->view[operand], logical);
    return -1;
}

static struct hs_role role_of(const struct hs_problem *problem, const struct hs_variant *variant, int operand)
{
    struct hs_role role;
    memset(&role, 0, sizeof role);
    if (operand == variant->stationary)
        return role;
    const struct hs_view *view = &problem->view[operand];
    const int *dims = hs_operand_dims[operand];
    role.moves = 1;
    role.pinned = dims[0] == variant->looped ? dims[1] : dims[0];
    role.own_axis = axis_of(problem, operand, role.pinned);
    role.want_axis = variant->axis_of[role.pinned];
    role.exchanged = role.own_axis != role.want_axis;
    role.line_axis = 1 - role.want_axis;
    role.loop_axis = 1 - role.own_axis;
    role.own = &view->axis[role.own_axis];
    role.want = variant->axis[role.pinned];
    role.looped = &view->axis[role.loop_axis];
    return role;
}

hsumma_status hs_variant_make(const struct hs_problem *problem, int stationary, struct hs_variant *variant,
                              struct hs_message *message)
{
    static const char dim_name[] = "mnk", operand_name[] = "ABC";
    memset(variant, 0, sizeof *variant);
    variant->stationary = stationary;
    for (int dim = 0; dim < 3; dim++) {
        int axis = axis_of(problem, stationary, dim);
        if (axis < 0) {
            variant->looped = dim;
        } else {
            variant->axis_of[dim] = axis;
            variant->axis[dim] = &problem->view[stationary].axis[axis];
        }
    }
    for (int operand = 0; operand < 3; operand++) {
        struct hs_role *role = &variant->role[operand];
        *role = role_of(problem, variant, operand);
        if (!role->moves || role->exchanged || hs_axis_same(role->own, role->want))
            continue;
        return hs_fail(
            message, HSUMMA_ERR_UNSUPPORTED,
            "dimension %c is spread in blocks of %" PRId64 " (first %" PRId64 ", on process %d) in %c and of "
            "%" PRId64 " (first %" PRId64 ", on process %d) in %c; with stationary %c they must be spread alike",
            dim_name[role->pinned], role->own->nb, role->own->first, role->own->src, operand_name[operand],
            role->want->nb, role->want->first, role->want->src, operand_name[stationary], operand_name[stationary]);
    }
    return HSUMMA_OK;
}
