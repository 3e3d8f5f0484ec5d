/* The builders, one file each; registry.c has a row for each. */
#ifndef HS_COLL_BUILDERS_H
#define HS_COLL_BUILDERS_H

#include "coll/registry.h"

void hs_build_bcast_flat(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_binomial(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_van_de_geijn(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_bcast_chain(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_reduce_binomial(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allreduce_recursive_doubling(struct hs_builder *builder, const struct hs_shape *shape);
void hs_build_allgather_ring(struct hs_builder *builder, const struct hs_shape *shape);

#endif
