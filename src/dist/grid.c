#include "dist/grid.h"

int hs_grid_stride(const struct hs_grid *grid, int axis)
{
    return axis == 0 ? grid->extent[1] : 1;
}

struct hs_group hs_grid_all(const struct hs_grid *grid)
{
    return (struct hs_group){
        .table = grid->rank, .stride = 1, .size = grid->extent[0] * grid->extent[1], .me = hs_grid_me(grid)};
}

int hs_factors_make(struct hs_factors *factors, int extent, int outer_levels, const int *outer)
{
    int rest = extent;
    factors->levels = outer_levels + 1;
    for (int l = 0; l < outer_levels; l++) {
        if (outer[l] < 1 || rest % outer[l])
            return 0;
        factors->size[l] = outer[l];
        rest /= outer[l];
    }
    factors->size[outer_levels] = rest;
    int stride = 1;
    for (int l = outer_levels; l >= 0; l--) {
        factors->stride[l] = stride;
        stride *= factors->size[l];
    }
    return 1;
}

int hs_digit(const struct hs_factors *factors, int level, int coordinate)
{
    return coordinate / factors->stride[level] % factors->size[level];
}

void hs_factors_merge_for_sums(const struct hs_factors *factors, struct hs_factors *merged, int *tier)
{
    struct hs_factors inward = {0, {0}, {0}}; /* merged levels, innermost first */
    int tiers[HS_LEVELS_MAX];
    int inside = 1;
    for (int l = factors->levels - 1; l >= 0; l--) {
        int power_of_two = (inside & (inside - 1)) == 0;
        if (inward.levels > 0 && (!power_of_two || factors->size[l] == 1 || inside == 1)) {
            int last = inward.levels - 1;
            if (inside == 1) /* the levels inside have one process each, so this level and its width replace them */
                tiers[last] = l;
            inward.size[last] *= factors->size[l];
        } else {
            tiers[inward.levels] = l;
            inward.size[inward.levels] = factors->size[l];
            inward.stride[inward.levels] = inside;
            inward.levels++;
        }
        inside *= factors->size[l];
    }
    merged->levels = inward.levels;
    for (int l = 0; l < inward.levels; l++) {
        merged->size[l] = inward.size[inward.levels - 1 - l];
        merged->stride[l] = inward.stride[inward.levels - 1 - l];
        tier[l] = tiers[inward.levels - 1 - l];
    }
}
