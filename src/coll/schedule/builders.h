/* The builders, one file each; registry.c has a row for each. */
#ifndef HS_COLL_SCHEDULE_BUILDERS_H
#define HS_COLL_SCHEDULE_BUILDERS_H

#include "coll/schedule/registry.h"

void hs_build_bcast_flat(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_binomial(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_van_de_geijn(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_chain(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_binary_tree(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_shared(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_hierarchical(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_mpi(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_binomial(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_rabenseifner_traff(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_shared(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_shared_buffer(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_spread(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_smp(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_recursive_doubling(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_ring(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_reduce_bcast(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_elimination_21(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_butterfly(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_elimination_32(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_elimination_32_21(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_small_ring(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_rabenseifner_traff(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_shared(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_shared_buffer(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_binomial(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_spread(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_smp(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_nap(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_dpml(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_ring(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_bruck(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_recursive_doubling(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_shared_buffer(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_spread(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_node_aware(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_pairwise(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_recursive_halving(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_ring(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_rabenseifner_traff(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_shared_buffer(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_spread(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_scatter_node_aware(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_host_staged(struct hs_builder *builder, const struct hs_shape *shape); /* of all five collectives */

/* Why a shape is refused; NULL if it is not. */
const char *hs_unfit_shared(const struct hs_shape *shape); /* more than one node, or no shared memory */
const char *hs_unfit_allreduce_shared_buffer(const struct hs_shape *shape); /* the same, or too little of it */
const char *hs_unfit_allreduce_binomial(const struct hs_shape *shape);
const char *hs_unfit_allgather_shared_buffer(const struct hs_shape *shape);
const char *hs_unfit_reduce_scatter_shared_buffer(const struct hs_shape *shape);
const char *hs_unfit_reduce_shared_buffer(const struct hs_shape *shape);
const char *
hs_unfit_spread(const struct hs_shape *shape); /* more than one node, or ranks cannot read each other's IN */
const char *hs_unfit_reduce_spread(const struct hs_shape *shape);
const char *hs_unfit_butterfly(const struct hs_shape *shape); /* size is no power of two */
const char *hs_unfit_nap(const struct hs_shape *shape);       /* nodes of different sizes */

#endif
