/*
 * The built-in algorithms. A row is defined by HS_ALG in the file of its builder and registered by its line here.
 * `hsumma coll --list` prints them in this order; of rows that the model cannot tell apart, it chooses the first.
 */
#ifndef HS_COLL_SCHEDULE_ROWS_H
#define HS_COLL_SCHEDULE_ROWS_H

#include "coll/schedule/registry.h"

#define HS_ALGS(ALG)                       \
    ALG(bcast_flat)                        \
    ALG(bcast_binomial)                    \
    ALG(bcast_van_de_geijn)                \
    ALG(bcast_chain)                       \
    ALG(bcast_bidirectional_chain)         \
    ALG(bcast_binary_tree)                 \
    ALG(bcast_torus)                       \
    ALG(bcast_shared)                      \
    ALG(bcast_direct)                      \
    ALG(bcast_hierarchical)                \
    ALG(bcast_host_staged)                 \
    ALG(bcast_mpi)                         \
    ALG(reduce_binomial)                   \
    ALG(reduce_rabenseifner_traff)         \
    ALG(reduce_shared)                     \
    ALG(reduce_shared_buffer)              \
    ALG(reduce_spread)                     \
    ALG(reduce_smp)                        \
    ALG(reduce_exact)                      \
    ALG(reduce_host_staged)                \
    ALG(reduce_mpi)                        \
    ALG(allreduce_recursive_doubling)      \
    ALG(allreduce_ring)                    \
    ALG(allreduce_reduce_bcast)            \
    ALG(allreduce_elimination_21)          \
    ALG(allreduce_butterfly)               \
    ALG(allreduce_elimination_32)          \
    ALG(allreduce_elimination_32_21)       \
    ALG(allreduce_small_ring)              \
    ALG(allreduce_rabenseifner_traff)      \
    ALG(allreduce_shared)                  \
    ALG(allreduce_shared_buffer)           \
    ALG(allreduce_binomial)                \
    ALG(allreduce_spread)                  \
    ALG(allreduce_smp)                     \
    ALG(allreduce_nap)                     \
    ALG(allreduce_dpml)                    \
    ALG(allreduce_exact)                   \
    ALG(allreduce_host_staged)             \
    ALG(allreduce_mpi)                     \
    ALG(allgather_ring)                    \
    ALG(allgather_bruck)                   \
    ALG(allgather_recursive_doubling)      \
    ALG(allgather_node_aware)              \
    ALG(allgather_shared_buffer)           \
    ALG(allgather_spread)                  \
    ALG(allgather_host_staged)             \
    ALG(allgather_mpi)                     \
    ALG(reduce_scatter_pairwise)           \
    ALG(reduce_scatter_recursive_halving)  \
    ALG(reduce_scatter_ring)               \
    ALG(reduce_scatter_rabenseifner_traff) \
    ALG(reduce_scatter_shared_buffer)      \
    ALG(reduce_scatter_spread)             \
    ALG(reduce_scatter_node_aware)         \
    ALG(reduce_scatter_exact)              \
    ALG(reduce_scatter_host_staged)        \
    ALG(reduce_scatter_mpi)

#define HS_DECLARE_ALG(symbol) extern const struct hs_alg hs_alg_##symbol;
HS_ALGS(HS_DECLARE_ALG)

/* Functions for hs_alg.unfit that several rows share: each returns its reason as text, or NULL if the shape fits. */
/* Rejects more than one node, shared memory for fewer than three elements, or a vector that needs too many pieces. */
const char *hs_unfit_shared(const struct hs_alg *alg, const struct hs_shape *shape);
/* Rejects more than one node, no shared memory, or ranks that cannot read each other's IN and OUT. */
const char *hs_unfit_spread(const struct hs_alg *alg, const struct hs_shape *shape);
/* Rejects a number of ranks that is not a power of two. */
const char *hs_unfit_power(const struct hs_alg *alg, const struct hs_shape *shape);

#endif
