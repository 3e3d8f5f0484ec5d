/* The named set of algorithms that hsumma tune --coll tries. */
#include "tune/coll.h"

/* Conditions on the ranks. */
enum {
    NODES = 1,    /* more than one node */
    SOCKETS = 2,  /* more than one socket on a node */
    POWER = 4,    /* the number of ranks is a power of two */
    NO_POWER = 8, /* the number of ranks is not a power of two */
};

enum { ALIKE = 8 };

static const struct {
    hsumma_collective collective;
    unsigned when;
    int leaders;   /* least number of ranks on node 0 */
    int64_t bytes; /* least bytes of the vector, for parameters without effect on smaller ones */
    const char *word[ALIKE];
} words[] = {
    {HSUMMA_BCAST, 0, 1, 0, {"flat", "binomial", "van_de_geijn", "shared", "mpi"}},
    {HSUMMA_BCAST, 0, 1, 0, {"chain(segment=64k)", "binary_tree(segment=64k)"}},
    {HSUMMA_BCAST, 0, 1, 32 << 10, {"chain(segment=16k)", "binary_tree(segment=16k)", "shared(segment=16k)"}},
    {HSUMMA_BCAST, 0, 1, 512 << 10, {"chain(segment=256k)", "binary_tree(segment=256k)", "shared(segment=256k)"}},
    {HSUMMA_BCAST, NODES, 2, 0, {"hierarchical", "hierarchical(outer=van_de_geijn)", "hierarchical(outer=flat)"}},
    {HSUMMA_BCAST, NODES, 2, 32 << 10, {"hierarchical(outer=chain,segment=16k)"}},
    {HSUMMA_BCAST, NODES, 2, 128 << 10, {"hierarchical(outer=chain,segment=64k)"}},
    {HSUMMA_BCAST, NODES, 2, 512 << 10, {"hierarchical(outer=chain,segment=256k)"}},
    {HSUMMA_BCAST, SOCKETS, 2, 0, {"hierarchical(level=socket)"}},

    {HSUMMA_REDUCE, 0, 1, 0, {"binomial", "rabenseifner_traff", "rabenseifner_traff(b=1)", "shared", "mpi"}},
    {HSUMMA_REDUCE, 0, 1, 8 << 10, {"rabenseifner_traff(b=64k)", "shared(b=64k)"}},
    {HSUMMA_REDUCE, NODES, 2, 0, {"smp", "smp(outer=rabenseifner_traff)"}},
    {HSUMMA_REDUCE, SOCKETS, 2, 0, {"smp(level=socket)"}},

    {HSUMMA_ALLREDUCE, 0, 1, 0, {"recursive_doubling", "ring", "reduce_bcast", "shared", "mpi"}},
    {HSUMMA_ALLREDUCE, 0, 1, 8 << 10, {"shared(b=64k)"}},
    {HSUMMA_ALLREDUCE, POWER, 1, 0, {"butterfly", "butterfly(b=1)"}},
    {HSUMMA_ALLREDUCE, POWER, 1, 8 << 10, {"butterfly(b=64k)"}},
    {HSUMMA_ALLREDUCE, NO_POWER, 1, 0, {"elimination_21", "elimination_32", "elimination_32_21", "small_ring"}},
    {HSUMMA_ALLREDUCE, NO_POWER, 1, 0, {"rabenseifner_traff"}},
    {HSUMMA_ALLREDUCE, NO_POWER, 1, 8 << 10, {"rabenseifner_traff(b=64k)"}},
    {HSUMMA_ALLREDUCE, NODES, 1, 0, {"dpml(l=1)"}},
    {HSUMMA_ALLREDUCE, NODES, 2, 0, {"smp", "smp(outer=rabenseifner_traff)", "nap", "dpml(l=2)"}},
    {HSUMMA_ALLREDUCE, NODES, 4, 0, {"dpml(l=4)"}},
    {HSUMMA_ALLREDUCE, NODES, 8, 0, {"dpml(l=8)"}},
    {HSUMMA_ALLREDUCE, NODES, 1, 8 << 10, {"dpml(l=1,k=4)"}},
    {HSUMMA_ALLREDUCE, NODES, 2, 8 << 10, {"dpml(l=2,k=4)", "dpml(l=2,outer=ring)"}},
    {HSUMMA_ALLREDUCE, NODES, 4, 8 << 10, {"dpml(l=4,k=4)"}},
    {HSUMMA_ALLREDUCE, SOCKETS, 2, 0, {"smp(level=socket)"}},

    {HSUMMA_ALLGATHER, 0, 1, 0, {"ring", "bruck", "mpi"}},
    {HSUMMA_ALLGATHER, POWER, 1, 0, {"recursive_doubling"}},
    {HSUMMA_ALLGATHER, 0, 2, 0, {"node_aware"}},
    {HSUMMA_ALLGATHER, SOCKETS, 2, 0, {"node_aware(level=socket)"}},

    {HSUMMA_REDUCE_SCATTER, 0, 1, 0, {"pairwise", "recursive_halving", "ring", "mpi"}},
    {HSUMMA_REDUCE_SCATTER, 0, 1, 0, {"rabenseifner_traff", "rabenseifner_traff(b=1)"}},
    {HSUMMA_REDUCE_SCATTER, 0, 1, 8 << 10, {"rabenseifner_traff(b=64k)"}},
    {HSUMMA_REDUCE_SCATTER, 0, 2, 0, {"node_aware"}},
    {HSUMMA_REDUCE_SCATTER, SOCKETS, 2, 0, {"node_aware(level=socket)"}},
};

int tune_words(hsumma_collective collective, const struct hs_topology *topology, int64_t bytes,
               const char *list[TUNE_WORDS])
{
    const struct hs_division *nodes = &topology->division[HS_NODE], *sockets = &topology->division[HS_SOCKET];
    int size = topology->size, is_power = (size & (size - 1)) == 0, ranks = hs_division_size(nodes, 0), count = 0;
    unsigned holds =
        (nodes->parts > 1 ? NODES : 0) | (sockets->parts > nodes->parts ? SOCKETS : 0) | (is_power ? POWER : NO_POWER);

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].collective == collective && (words[i].when & holds) == words[i].when &&
            words[i].leaders <= ranks && words[i].bytes <= bytes)
            for (int w = 0; w < ALIKE && words[i].word[w] && count < TUNE_WORDS - 1; w++)
                list[count++] = words[i].word[w];
    return count;
}
