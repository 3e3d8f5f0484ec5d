#include "coll/registry.h"

#include "coll/builders.h"

#include <string.h>

static const struct hs_alg algs[] = {
    {HS_BCAST, "flat", "the root sends to everybody: (q-1)(alpha + m beta)", 0, NULL, hs_build_bcast_flat},
    {HS_BCAST, "binomial", "binomial tree: ceil(log2 q)(alpha + m beta); HSUMMA (ICPP 2013), Section IV", 0, NULL,
     hs_build_bcast_binomial},
    {HS_BCAST, "van_de_geijn",
     "binomial scatter, ring allgather: (log2 q + q-1) alpha + 2(1 - 1/q) m beta; HSUMMA (ICPP 2013), Section IV", 0,
     NULL, hs_build_bcast_van_de_geijn},
    {HS_BCAST, "chain",
     "chain pipelined in s segments: (q-2+s)(alpha + m/s beta); van de Geijn and Watts, SUMMA (1997)", HS_USES_SEGMENT,
     NULL, hs_build_bcast_chain},
    {HS_REDUCE_TO, "binomial",
     "tree over the ranks in order, sums bracketed alike for every root: ceil(log2 q)(alpha + m beta + m gamma)",
     HS_TRUE_ROOT | HS_KEEPS_ORDER, NULL, hs_build_reduce_binomial},
    {HS_ALLREDUCE, "recursive_doubling",
     "pairs at doubling distance: log2 q (alpha + m beta + m gamma); Bienz, Olson and Gropp (2019), Section II",
     HS_KEEPS_ORDER, NULL, hs_build_allreduce_recursive_doubling},
    {HS_ALLGATHER, "ring", "each part once around the ring: (q-1)(alpha + m/q beta)", 0, NULL, hs_build_allgather_ring},
};

static const char *const collectives[HS_COLLECTIVES] = {
    [HS_BCAST] = "bcast",
    [HS_REDUCE_TO] = "reduce",
    [HS_ALLREDUCE] = "allreduce",
    [HS_ALLGATHER] = "allgather",
};

const struct hs_alg *hs_alg_at(int i)
{
    return i >= 0 && (size_t)i < sizeof algs / sizeof *algs ? &algs[i] : NULL;
}

const struct hs_alg *hs_alg_find(enum hs_collective collective, const char *name)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at(i)); i++)
        if (alg->collective == collective && strcmp(alg->name, name) == 0)
            return alg;
    return NULL;
}

const char *hs_collective_name(enum hs_collective collective)
{
    return (unsigned)collective < HS_COLLECTIVES ? collectives[collective] : "unknown collective";
}

hsumma_status hs_build(const struct hs_alg *alg, const struct hs_shape *shape, const struct hs_allocator *memory,
                       struct hs_list *list)
{
    struct hs_builder builder;
    *list = (struct hs_list){0};
    if (shape->size < 1 || shape->rank < 0 || shape->rank >= shape->size || shape->root < 0 ||
        shape->root >= shape->size || shape->unit < 1 || shape->bytes < 0 || shape->bytes % shape->unit ||
        shape->segment < 0)
        return HSUMMA_ERR_INTERNAL;
    if (alg->fits && !alg->fits(shape))
        return HSUMMA_ERR_UNSUPPORTED;
    hs_list_begin(&builder, memory);
    alg->build(&builder, shape);
    return hs_list_finish(&builder, list);
}

int64_t hs_part_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i)
{
    int64_t elements = bytes / unit, each = elements / parts, longer = elements % parts;
    return (i * each + (i < longer ? i : longer)) * unit;
}

int64_t hs_part_at(const struct hs_shape *shape, int i)
{
    return shape->part ? shape->part[i] : hs_part_equal(shape->bytes, shape->unit, shape->size, i);
}
