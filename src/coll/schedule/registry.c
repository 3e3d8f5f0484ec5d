#include "coll/schedule/registry.h"

#include "coll/schedule/builders.h"

#include <string.h>

static const struct hs_alg algs[] = {
    /* broadcast */
    {HS_BCAST, "flat", "the root sends to everybody: (q-1)(alpha + m beta)", 0, NULL, hs_build_bcast_flat, NULL},
    {HS_BCAST, "binomial", "binomial tree: ceil(log2 q)(alpha + m beta); HSUMMA (ICPP 2013), Section IV", 0, NULL,
     hs_build_bcast_binomial, NULL},
    {HS_BCAST, "van_de_geijn",
     "binomial scatter, ring allgather: (log2 q + q-1) alpha + 2(1 - 1/q) m beta; HSUMMA (ICPP 2013), Section IV", 0,
     NULL, hs_build_bcast_van_de_geijn, NULL},
    {HS_BCAST, "chain",
     "chain pipelined in s segments: (q-2+s)(alpha + m/s beta); van de Geijn and Watts, SUMMA (1997)", HS_USES_SEGMENT,
     NULL, hs_build_bcast_chain, NULL},
    {HS_BCAST, "binary_tree", "binary tree pipelined in s segments: about 2(log2(q+1)-2+s)(alpha + m/s beta)",
     HS_USES_SEGMENT, NULL, hs_build_bcast_binary_tree, NULL},
    {HS_BCAST, "shared", "one node: the ranks read the root's memory, or segments that it puts into its shared slot",
     HS_TRUE_ROOT | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_SEGMENT, hs_unfit_shared, hs_build_bcast_shared, NULL},
    {HS_BCAST, "hierarchical", "any broadcast over the nodes' (or sockets') leaders, then any inside each of them",
     HS_TRUE_ROOT | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_SEGMENT | HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER,
     NULL, hs_build_bcast_hierarchical, NULL},
    {HS_BCAST, "host_staged",
     "of device memory: copies in the host's, which does the work by its own row; in host memory just that row",
     HS_TRUE_ROOT | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_ON_HOST, NULL, hs_build_host_staged, NULL},
    {HS_BCAST, "mpi", "MPI's own MPI_Ibcast", HS_TRUE_ROOT | HS_BY_MPI, NULL, hs_build_mpi, NULL},

    /* reduction to a root */
    {HS_REDUCE_TO, "binomial",
     "tree over the ranks in order, sums bracketed alike for every root: ceil(log2 q)(alpha + m beta + m gamma)",
     HS_TRUE_ROOT | HS_KEEPS_ORDER | HS_UNIFORM | HS_NESTS, NULL, hs_build_reduce_binomial, NULL},
    {HS_REDUCE_TO, "rabenseifner_traff",
     "reduction phase as in allreduce, routing phase to the root; Rabenseifner and Traeff (2004), Sections 2 and 3",
     HS_TRUE_ROOT | HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, NULL, hs_build_reduce_rabenseifner_traff, NULL},
    {HS_REDUCE_TO, "shared", "one node: every rank reduces its part of what all have put into shared memory",
     HS_TRUE_ROOT | HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_THRESHOLD,
     hs_unfit_shared, hs_build_reduce_shared, NULL},
    {HS_REDUCE_TO, "shared_buffer",
     "one node: all copy their vectors into the root's memory, which sums them at once; Faraji and Afsahi (2014), "
     "Section 3.1",
     HS_TRUE_ROOT | HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES | HS_USES_SEGMENT,
     hs_unfit_reduce_shared_buffer, hs_build_reduce_shared_buffer, NULL},
    {HS_REDUCE_TO, "spread",
     "one node: every rank reduces a slice of all ranks' vectors, read where they are; the root copies the slices",
     HS_TRUE_ROOT | HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES | HS_USES_PIECES,
     hs_unfit_reduce_spread, hs_build_reduce_spread, NULL},
    {HS_REDUCE_TO, "smp", "inside every node to its leader, then over the leaders: (log2 ppn + log2 n) steps",
     HS_TRUE_ROOT | HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_LEVEL | HS_USES_OUTER |
         HS_USES_INNER,
     NULL, hs_build_reduce_smp, NULL},
    {HS_REDUCE_TO, "host_staged",
     "of device memory: copies in the host's, which does the work by its own row; in host memory just that row",
     HS_TRUE_ROOT | HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_ON_HOST, NULL,
     hs_build_host_staged, NULL},
    {HS_REDUCE_TO, "mpi", "MPI's own MPI_Ireduce", HS_TRUE_ROOT | HS_BY_MPI, NULL, hs_build_mpi, NULL},

    /* allreduce */
    {HS_ALLREDUCE, "recursive_doubling",
     "pairs at doubling distance: log2 q (alpha + m beta + m gamma); Bienz, Olson and Gropp (2019), Section II",
     HS_KEEPS_ORDER | HS_UNIFORM, NULL, hs_build_allreduce_recursive_doubling, NULL},
    {HS_ALLREDUCE, "ring", "ring reduce-scatter and allgather: 2(q-1)(alpha + m/q beta) + (1 - 1/q) m gamma", 0, NULL,
     hs_build_allreduce_ring, NULL},
    {HS_ALLREDUCE, "reduce_bcast", "reduction to rank 0 (inner) and broadcast (outer), by default binomial",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_OUTER | HS_USES_INNER, NULL,
     hs_build_allreduce_reduce_bcast, NULL},
    {HS_ALLREDUCE, "elimination_21",
     "2-1 elimination down to a power of two, then the hybrid butterfly: the baseline of Rabenseifner and Traeff "
     "(2004)",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, NULL, hs_build_allreduce_elimination_21, NULL},
    {HS_ALLREDUCE, "butterfly",
     "hybrid butterfly, halving down to b: log2 q to 2 log2 q rounds; Rabenseifner and Traeff (2004), Section 2",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, hs_unfit_butterfly, hs_build_allreduce_butterfly, NULL},
    {HS_ALLREDUCE, "elimination_32",
     "butterfly with overlapping 3-2 elimination; Rabenseifner and Traeff (2004), Sections 3.1 and 3.2",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, NULL, hs_build_allreduce_elimination_32, NULL},
    {HS_ALLREDUCE, "elimination_32_21",
     "butterfly with non-overlapping 3-2 and 2-1 elimination; Rabenseifner and Traeff (2004), Section 3.3",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, NULL, hs_build_allreduce_elimination_32_21, NULL},
    {HS_ALLREDUCE, "small_ring",
     "butterfly with small rings for the odd factors; Rabenseifner and Traeff (2004), Section 3.4",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, NULL, hs_build_allreduce_small_ring, NULL},
    {HS_ALLREDUCE, "rabenseifner_traff",
     "p = 2^n q1 ... qh: butterfly, rings or elimination, by cost; Rabenseifner and Traeff (2004), Section 3.6",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_BY_LENGTH | HS_USES_THRESHOLD, NULL, hs_build_allreduce_rabenseifner_traff, NULL},
    {HS_ALLREDUCE, "shared", "one node: every rank reduces its part (up to b: all) of what all have put into memory",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_THRESHOLD, hs_unfit_shared,
     hs_build_allreduce_shared, NULL},
    {HS_ALLREDUCE, "shared_buffer",
     "one node: all copy their vectors into rank 0's memory, it sums them at once, all copy the sum; Faraji and Afsahi "
     "(2014), Section 3.1",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES | HS_USES_SEGMENT,
     hs_unfit_allreduce_shared_buffer, hs_build_allreduce_shared_buffer, NULL},
    {HS_ALLREDUCE, "binomial",
     "one node: tree of radix 2^k to rank 0 (children copy into their parent's memory), all copy the sum; Faraji and "
     "Afsahi (2014), Section 3.2",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES | HS_USES_PIECES,
     hs_unfit_allreduce_binomial, hs_build_allreduce_binomial, NULL},
    {HS_ALLREDUCE, "spread",
     "one node: every rank reduces a slice of all ranks' vectors, read where they are; all copy the slices of the "
     "others",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES | HS_USES_PIECES, hs_unfit_spread,
     hs_build_allreduce_spread, NULL},
    {HS_ALLREDUCE, "smp",
     "to the node's leader, allreduce over the leaders, broadcast inside; Bienz, Olson and Gropp (2019), Section II-A",
     HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER,
     NULL, hs_build_allreduce_smp, NULL},
    {HS_ALLREDUCE, "nap",
     "ceil(log_ppn n) steps between nodes, every process its own subgroup; Bienz, Olson and Gropp (2019), Section III",
     HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_LEVEL, hs_unfit_nap,
     hs_build_allreduce_nap, NULL},
    {HS_ALLREDUCE, "dpml",
     "l leaders per node reduce a part each, k pieces in flight; Bayatpour et al., DPML (SC17), Sections 4.1 and 4.2",
     HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_LEADERS | HS_USES_PIECES |
         HS_USES_LEVEL | HS_USES_OUTER | HS_USES_INNER,
     NULL, hs_build_allreduce_dpml, NULL},
    {HS_ALLREDUCE, "host_staged",
     "of device memory: copies in the host's, which does the work by its own row; in host memory just that row",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_ON_HOST, NULL, hs_build_host_staged, NULL},
    {HS_ALLREDUCE, "mpi", "MPI's own MPI_Iallreduce", HS_BY_MPI, NULL, hs_build_mpi, NULL},

    /* allgather */
    {HS_ALLGATHER, "ring", "each part once around the ring: (q-1)(alpha + m/q beta)", 0, NULL, hs_build_allgather_ring,
     NULL},
    {HS_ALLGATHER, "bruck", "ceil(log2 q) rounds for any q: ceil(log2 q) alpha + (1 - 1/q) m beta; Bruck et al. (1997)",
     0, NULL, hs_build_allgather_bruck, NULL},
    {HS_ALLGATHER, "recursive_doubling", "pairs at doubling distance: log2 q alpha + (1 - 1/q) m beta", 0,
     hs_unfit_butterfly, hs_build_allgather_recursive_doubling, NULL},
    {HS_ALLGATHER, "node_aware",
     "gather inside each node, one message per pair of nodes, dealt out to their ranks, and shared inside again",
     HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_LEVEL, NULL, hs_build_allgather_node_aware, NULL},
    {HS_ALLGATHER, "shared_buffer",
     "one node: all copy their parts into their shared memory, and the others' out of it",
     HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES, hs_unfit_allgather_shared_buffer,
     hs_build_allgather_shared_buffer, NULL},
    {HS_ALLGATHER, "spread", "one node: all copy the parts of the others from where they are",
     HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES, hs_unfit_spread, hs_build_allgather_spread, NULL},
    {HS_ALLGATHER, "host_staged",
     "of device memory: copies in the host's, which does the work by its own row; in host memory just that row",
     HS_USES_TOPOLOGY | HS_USES_SHARED | HS_ON_HOST, NULL, hs_build_host_staged, NULL},
    {HS_ALLGATHER, "mpi", "MPI's own MPI_Iallgatherv", HS_BY_MPI, NULL, hs_build_mpi, NULL},

    /* reduce-scatter */
    {HS_REDUCE_SCATTER, "pairwise",
     "every rank gets its part from each of the others: at most (q-1)(alpha + m/q (beta + gamma))",
     HS_KEEPS_ORDER | HS_UNIFORM, NULL, hs_build_reduce_scatter_pairwise, NULL},
    {HS_REDUCE_SCATTER, "recursive_halving", "halves at halving distance: log2 q alpha + (1 - 1/q) m (beta + gamma)",
     HS_KEEPS_ORDER | HS_UNIFORM, NULL, hs_build_reduce_scatter_recursive_halving, NULL},
    {HS_REDUCE_SCATTER, "ring", "partial sums once around the ring: (q-1)(alpha + m/q (beta + gamma))", 0, NULL,
     hs_build_reduce_scatter_ring, NULL},
    {HS_REDUCE_SCATTER, "rabenseifner_traff",
     "reduction phase as in allreduce, routing phase to the owners; Rabenseifner and Traeff (2004), Sections 2 and 3",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_THRESHOLD, NULL, hs_build_reduce_scatter_rabenseifner_traff, NULL},
    {HS_REDUCE_SCATTER, "shared_buffer",
     "one node: all copy their shares of a part into its rank's memory, which sums them at once",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES,
     hs_unfit_reduce_scatter_shared_buffer, hs_build_reduce_scatter_shared_buffer, NULL},
    {HS_REDUCE_SCATTER, "spread", "one node: every rank reduces its part of all ranks' vectors, read where they are",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_FOR_DEVICES, hs_unfit_spread,
     hs_build_reduce_scatter_spread, NULL},
    {HS_REDUCE_SCATTER, "node_aware",
     "sums inside each node, one message per pair of nodes, dealt out to their ranks, then sums over the nodes",
     HS_KEEPS_ORDER_IF | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_USES_LEVEL, NULL,
     hs_build_reduce_scatter_node_aware, NULL},
    {HS_REDUCE_SCATTER, "host_staged",
     "of device memory: copies in the host's, which does the work by its own row; in host memory just that row",
     HS_KEEPS_ORDER | HS_UNIFORM | HS_USES_TOPOLOGY | HS_USES_SHARED | HS_ON_HOST, NULL, hs_build_host_staged, NULL},
    {HS_REDUCE_SCATTER, "mpi", "MPI's own MPI_Ireduce_scatter", HS_BY_MPI, NULL, hs_build_mpi, NULL},
};

static const char *const collectives[HS_COLLECTIVES] = {
    [HS_BCAST] = "bcast",
    [HS_REDUCE_TO] = "reduce",
    [HS_ALLREDUCE] = "allreduce",
    [HS_ALLGATHER] = "allgather",
    [HS_REDUCE_SCATTER] = "reduce_scatter",
};

const struct hs_alg *hs_alg_at(int i)
{
    return i >= 0 && (size_t)i < sizeof algs / sizeof *algs ? &algs[i] : NULL;
}

const struct hs_alg *hs_alg_at_in(const struct hs_registry *own, int i)
{
    const int built_in = (int)(sizeof algs / sizeof *algs);
    if (i < built_in || !own)
        return hs_alg_at(i);
    return i - built_in < own->count ? own->row[i - built_in] : NULL;
}

const struct hs_alg *hs_alg_find_in(const struct hs_registry *own, enum hs_collective collective, const char *name)
{
    const struct hs_alg *alg;
    for (int i = 0; (alg = hs_alg_at_in(own, i)); i++)
        if (alg->collective == collective && strcmp(alg->name, name) == 0)
            return alg;
    return NULL;
}

const struct hs_alg *hs_alg_find(enum hs_collective collective, const char *name)
{
    return hs_alg_find_in(NULL, collective, name);
}

void hs_alg_names(const struct hs_registry *own, enum hs_collective collective, char *text, size_t size)
{
    const struct hs_alg *alg;
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; (alg = hs_alg_at_in(own, i)); i++) {
        size_t length = strlen(alg->name);
        if (alg->collective != collective || used + length + 3 > size)
            continue;
        if (used) {
            memcpy(text + used, ", ", 2);
            used += 2;
        }
        memcpy(text + used, alg->name, length + 1);
        used += length;
    }
}

const char *hs_collective_name(enum hs_collective collective)
{
    return (unsigned)collective < HS_COLLECTIVES ? collectives[collective] : "unknown collective";
}

const struct hs_alg *hs_alg_safe(enum hs_collective collective)
{
    static const char *const names[HS_COLLECTIVES] = {
        [HS_BCAST] = "binomial", [HS_REDUCE_TO] = "binomial",      [HS_ALLREDUCE] = "recursive_doubling",
        [HS_ALLGATHER] = "ring", [HS_REDUCE_SCATTER] = "pairwise",
    };
    return hs_alg_find(collective, names[collective]);
}

const char *hs_alg_unfit(const struct hs_alg *alg, const struct hs_shape *shape)
{
    if (alg->own && alg->own->unfit)
        return alg->own->unfit(alg, shape);
    return alg->unfit ? alg->unfit(shape) : NULL;
}

int hs_rotation(const struct hs_alg *alg, const struct hs_shape *shape)
{
    int rooted = alg->collective == HS_BCAST || alg->collective == HS_REDUCE_TO;
    return rooted && !(alg->flags & HS_TRUE_ROOT) ? shape->root : 0;
}

static struct hs_parameters used(const struct hs_alg *alg, const struct hs_parameters *given)
{
    struct hs_parameters with = *given;
    with.threshold = alg->flags & HS_USES_THRESHOLD ? given->threshold : 0;
    with.leaders = alg->flags & HS_USES_LEADERS ? given->leaders : 0;
    with.pieces = alg->flags & HS_USES_PIECES ? given->pieces : 0;
    with.level = alg->flags & HS_USES_LEVEL ? given->level : HS_NODE;
    with.outer = alg->flags & HS_USES_OUTER ? given->outer : NULL;
    with.inner = alg->flags & HS_USES_INNER ? given->inner : NULL;
    return with;
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
    if (hs_alg_unfit(alg, shape))
        return HSUMMA_ERR_UNSUPPORTED;
    struct hs_shape mine = *shape;
    mine.with = used(alg, &shape->with);
    hs_list_begin(&builder, memory);
    builder.alg = alg;
    alg->build(&builder, &mine);
    return hs_list_finish(&builder, list);
}

int64_t hs_part_equal(int64_t bytes, int64_t unit, int64_t parts, int64_t i)
{
    int64_t elements = bytes / unit, each = elements / parts, longer = elements % parts;
    return (i * each + (i < longer ? i : longer)) * unit;
}

int64_t hs_segments(const struct hs_shape *shape)
{
    enum { DEFAULT_SEGMENT = 64 * 1024, MOST_SEGMENTS = 4096 };
    int64_t elements = shape->bytes / shape->unit;
    int64_t longest = (shape->segment ? shape->segment : DEFAULT_SEGMENT) / shape->unit;
    if (longest < 1)
        longest = 1;
    int64_t segments = elements / longest + (elements % longest != 0);
    return segments < MOST_SEGMENTS ? segments : MOST_SEGMENTS;
}

int64_t hs_part_at(const struct hs_shape *shape, int i)
{
    return shape->part ? shape->part[i] : hs_part_equal(shape->bytes, shape->unit, shape->size, i);
}
