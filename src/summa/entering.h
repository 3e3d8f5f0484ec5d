/* The data that must enter each node, or each process, in a product with a given stationary operand, whatever the
 * algorithm: a function of the layouts alone. */
#ifndef HS_SUMMA_ENTERING_H
#define HS_SUMMA_ENTERING_H

#include "coll/schedule/topology.h"
#include "summa/problem.h"

/* Computes, for each part of `node` (a division of all ranks into nodes or processes), the bytes of the moving operands
 * that must enter it: bytes[0 .. node->parts).  All processes of a line need the same part of a moving A or B.  If a
 * member of the line multiplies on a node, the elements of that part that no process of the node owns enter the node
 * once.  Elements of a moving C enter the node of their owner once, if other nodes contribute to their sums.  Errors:
 * HSUMMA_ERR_MEMORY; HSUMMA_ERR_UNSUPPORTED if the operand cannot be stationary. */
hsumma_status hs_entering_bytes(const struct hs_problem *problem, int stationary, const struct hs_division *node,
                                const struct hs_allocator *memory, int64_t *bytes);

#endif
