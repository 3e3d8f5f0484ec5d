/* The words for collectives that take part: a named set. */
#include "tune/coll.h"

/* When a word makes sense. */
enum {
    NODES = 1,    /* more than one node */
    SOCKETS = 2,  /* more than one socket on a node */
    POWER = 4,    /* the ranks are a power of two */
    NO_POWER = 8, /* they are not */
};

static const struct {
    hsumma_collective collective;
    const char *word;
    unsigned when;
    int leaders;   /* ranks on a node at least */
    int64_t bytes; /* of the vector at least: a larger segment changes nothing */
} words[] = {
    {HSUMMA_BCAST, "flat", 0, 1, 0},
    {HSUMMA_BCAST, "binomial", 0, 1, 0},
    {HSUMMA_BCAST, "van_de_geijn", 0, 1, 0},
    {HSUMMA_BCAST, "chain(segment=16k)", 0, 1, 32 << 10},
    {HSUMMA_BCAST, "chain(segment=64k)", 0, 1, 0},
    {HSUMMA_BCAST, "chain(segment=256k)", 0, 1, 512 << 10},
    {HSUMMA_BCAST, "binary_tree(segment=16k)", 0, 1, 32 << 10},
    {HSUMMA_BCAST, "binary_tree(segment=64k)", 0, 1, 0},
    {HSUMMA_BCAST, "binary_tree(segment=256k)", 0, 1, 512 << 10},
    {HSUMMA_BCAST, "shared", 0, 1, 0},
    {HSUMMA_BCAST, "shared(segment=16k)", 0, 1, 32 << 10},
    {HSUMMA_BCAST, "shared(segment=256k)", 0, 1, 512 << 10},
    {HSUMMA_BCAST, "hierarchical", NODES, 2, 0},
    {HSUMMA_BCAST, "hierarchical(outer=van_de_geijn)", NODES, 2, 0},
    {HSUMMA_BCAST, "hierarchical(outer=chain,segment=16k)", NODES, 2, 32 << 10},
    {HSUMMA_BCAST, "hierarchical(outer=chain,segment=64k)", NODES, 2, 128 << 10},
    {HSUMMA_BCAST, "hierarchical(outer=chain,segment=256k)", NODES, 2, 512 << 10},
    {HSUMMA_BCAST, "hierarchical(outer=flat)", NODES, 2, 0},
    {HSUMMA_BCAST, "hierarchical(level=socket)", SOCKETS, 2, 0},
    {HSUMMA_BCAST, "mpi", 0, 1, 0},

    {HSUMMA_REDUCE, "binomial", 0, 1, 0},
    {HSUMMA_REDUCE, "rabenseifner_traff", 0, 1, 0},
    {HSUMMA_REDUCE, "rabenseifner_traff(b=1)", 0, 1, 0},
    {HSUMMA_REDUCE, "rabenseifner_traff(b=64k)", 0, 1, 8 << 10},
    {HSUMMA_REDUCE, "shared", 0, 1, 0},
    {HSUMMA_REDUCE, "shared(b=64k)", 0, 1, 8 << 10},
    {HSUMMA_REDUCE, "smp", NODES, 2, 0},
    {HSUMMA_REDUCE, "smp(outer=rabenseifner_traff)", NODES, 2, 0},
    {HSUMMA_REDUCE, "smp(level=socket)", SOCKETS, 2, 0},
    {HSUMMA_REDUCE, "mpi", 0, 1, 0},

    {HSUMMA_ALLREDUCE, "recursive_doubling", 0, 1, 0},
    {HSUMMA_ALLREDUCE, "ring", 0, 1, 0},
    {HSUMMA_ALLREDUCE, "reduce_bcast", 0, 1, 0},
    {HSUMMA_ALLREDUCE, "butterfly", POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "butterfly(b=1)", POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "butterfly(b=64k)", POWER, 1, 8 << 10},
    {HSUMMA_ALLREDUCE, "elimination_21", NO_POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "elimination_32", NO_POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "elimination_32_21", NO_POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "small_ring", NO_POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "rabenseifner_traff", NO_POWER, 1, 0},
    {HSUMMA_ALLREDUCE, "rabenseifner_traff(b=64k)", NO_POWER, 1, 8 << 10},
    {HSUMMA_ALLREDUCE, "shared", 0, 1, 0},
    {HSUMMA_ALLREDUCE, "shared(b=64k)", 0, 1, 8 << 10},
    {HSUMMA_ALLREDUCE, "smp", NODES, 2, 0},
    {HSUMMA_ALLREDUCE, "smp(outer=rabenseifner_traff)", NODES, 2, 0},
    {HSUMMA_ALLREDUCE, "smp(level=socket)", SOCKETS, 2, 0},
    {HSUMMA_ALLREDUCE, "nap", NODES, 2, 0},
    {HSUMMA_ALLREDUCE, "dpml(l=1)", NODES, 1, 0},
    {HSUMMA_ALLREDUCE, "dpml(l=2)", NODES, 2, 0},
    {HSUMMA_ALLREDUCE, "dpml(l=4)", NODES, 4, 0},
    {HSUMMA_ALLREDUCE, "dpml(l=8)", NODES, 8, 0},
    {HSUMMA_ALLREDUCE, "dpml(l=1,k=4)", NODES, 1, 8 << 10},
    {HSUMMA_ALLREDUCE, "dpml(l=2,k=4)", NODES, 2, 8 << 10},
    {HSUMMA_ALLREDUCE, "dpml(l=4,k=4)", NODES, 4, 8 << 10},
    {HSUMMA_ALLREDUCE, "dpml(l=2,outer=ring)", NODES, 2, 8 << 10},
    {HSUMMA_ALLREDUCE, "mpi", 0, 1, 0},

    {HSUMMA_ALLGATHER, "ring", 0, 1, 0},
    {HSUMMA_ALLGATHER, "bruck", 0, 1, 0},
    {HSUMMA_ALLGATHER, "recursive_doubling", POWER, 1, 0},
    {HSUMMA_ALLGATHER, "node_aware", 0, 2, 0},
    {HSUMMA_ALLGATHER, "node_aware(level=socket)", SOCKETS, 2, 0},
    {HSUMMA_ALLGATHER, "mpi", 0, 1, 0},

    {HSUMMA_REDUCE_SCATTER, "pairwise", 0, 1, 0},
    {HSUMMA_REDUCE_SCATTER, "recursive_halving", 0, 1, 0},
    {HSUMMA_REDUCE_SCATTER, "ring", 0, 1, 0},
    {HSUMMA_REDUCE_SCATTER, "rabenseifner_traff", 0, 1, 0},
    {HSUMMA_REDUCE_SCATTER, "rabenseifner_traff(b=1)", 0, 1, 0},
    {HSUMMA_REDUCE_SCATTER, "rabenseifner_traff(b=64k)", 0, 1, 8 << 10},
    {HSUMMA_REDUCE_SCATTER, "node_aware", 0, 2, 0},
    {HSUMMA_REDUCE_SCATTER, "node_aware(level=socket)", SOCKETS, 2, 0},
    {HSUMMA_REDUCE_SCATTER, "mpi", 0, 1, 0},
};

int tune_words(hsumma_collective collective, const struct hs_topology *topology, const char *list[TUNE_WORDS],
               int64_t least[TUNE_WORDS])
{
    const struct hs_division *nodes = &topology->division[HS_NODE], *sockets = &topology->division[HS_SOCKET];
    int size = topology->size, is_power = (size & (size - 1)) == 0, ranks = hs_division_size(nodes, 0), count = 0;
    unsigned holds =
        (nodes->parts > 1 ? NODES : 0) | (sockets->parts > nodes->parts ? SOCKETS : 0) | (is_power ? POWER : NO_POWER);

    for (unsigned i = 0; i < sizeof words / sizeof *words && count < TUNE_WORDS - 1; i++)
        if (words[i].collective == collective && (words[i].when & holds) == words[i].when &&
            words[i].leaders <= ranks) {
            list[count] = words[i].word;
            least[count++] = words[i].bytes;
        }
    return count;
}
