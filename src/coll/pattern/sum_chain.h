/* Sums of what several ranks have put into memory, in one go: for devices, where each piece of work has its price. */
#ifndef HS_COLL_PATTERN_SUM_CHAIN_H
#define HS_COLL_PATTERN_SUM_CHAIN_H

#include "coll/schedule/registry.h"

/* A JOIN after a WAIT for a signal of each other rank of the shape, and after `after` (-1: nothing else). */
int hs_emit_wait_all(struct hs_builder *builder, const struct hs_shape *shape, int64_t value, int after);

/*
 * dst = ((operand[0] op operand[1]) op operand[2]) ..., by REDUCEs right behind each other, the first after `after` and
 * each other one after the one before it; two operands at least.  An executor may do them all as one step.  No operand
 * but the first may overlap dst.  Returns the last step, -1 if count is 0.
 */
int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after);

/* The sum of `count` bytes of all ranks' IN, from byte `at` on, where they are: IN must be exposed. */
int hs_emit_sum_of_all(struct hs_builder *builder, const struct hs_shape *shape, struct hs_ref dst, int64_t at,
                       int64_t count, int after);
/* Pieces that a slice (one part of as many as there are ranks) is cut into: shape->with.pieces, or by its length. */
int64_t hs_slice_pieces(const struct hs_shape *shape);

/* What a place in SHARED takes that holds so many bytes: whole cache lines, and whole elements. */
int64_t hs_place_bytes(int64_t bytes, int64_t unit);
/* The longest that a place of so many bytes holds: whole cache lines if it has any. */
int64_t hs_place_within(int64_t bytes, int64_t unit);

#endif
