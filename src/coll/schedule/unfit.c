/* Reasons, shared by several rows, why a row does not fit a shape. */
#include "coll/schedule/rows.h"

/* Longest vector in bytes for shared memory; longer ones have too many pieces, and lists that are too long. */
static const int64_t longest_shared = (int64_t)1 << 30;

static const char *on_one_node(const struct hs_shape *shape)
{
    if (!shape->topology)
        return "this call cannot use shared memory";
    if (shape->topology->division[HS_NODE].parts > 1)
        return "the ranks are on more than one node";
    return shape->topology->shared_bytes ? NULL : "there is no shared memory";
}

const char *hs_unfit_shared(const struct hs_alg *alg, const struct hs_shape *shape)
{
    const char *why = on_one_node(shape);
    (void)alg;
    if (!why && shape->bytes > longest_shared && shape->bytes / shape->unit > 4096) /* few elements have few segments */
        return "the vector is longer than 1 GiB";
    return why || shape->topology->shared_bytes >= 3 * shape->unit ? why
                                                                   : "there is too little shared memory for an element";
}

const char *hs_unfit_spread(const struct hs_alg *alg, const struct hs_shape *shape)
{
    const char *why = on_one_node(shape);
    (void)alg;
    return why || shape->topology->direct ? why : "ranks cannot read each other's memory";
}

const char *hs_unfit_power(const struct hs_alg *alg, const struct hs_shape *shape)
{
    (void)alg;
    return shape->size & (shape->size - 1) ? "the number of ranks is not a power of two" : NULL;
}
