/* Why rows refuse shapes: reasons that several rows share. */
#include "coll/builders.h"

const char *hs_unfit_shared(const struct hs_shape *shape)
{
    if (shape->size == 1)
        return NULL;
    if (!shape->topology)
        return "here ranks know no shared memory";
    if (shape->topology->level[HS_NODE].parts > 1)
        return "the ranks are on more than one node";
    return shape->topology->room >= 3 * shape->unit ? NULL : "there is no shared memory";
}

const char *hs_unfit_butterfly(const struct hs_shape *shape)
{
    return shape->size & (shape->size - 1) ? "the number of ranks is no power of two" : NULL;
}

const char *hs_unfit_nap(const struct hs_shape *shape)
{
    return shape->topology && !shape->topology->level[shape->with.level].even
               ? "the nodes have different numbers of ranks"
               : NULL;
}
