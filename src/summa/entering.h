/* The data that must enter each node, or each process, in a product by any algorithm: a function of the layout
 * alone. */
#ifndef HS_SUMMA_ENTERING_H
#define HS_SUMMA_ENTERING_H

#include "coll/schedule/topology.h"
#include "summa/problem.h"

/* Computes, for each part of `node` (a division of all ranks into nodes or processes), the bytes of the moving operands
 * that must enter it: bytes[0 .. node->parts).  All processes of a line need the same part of a moving A or B; its
 * elements that no process of a node owns enter that node once, if a member of the line on that node multiplies.
 * Elements of a moving C enter the node of their owner once, if other nodes contribute to their sums.  Errors:
 * HSUMMA_ERR_MEMORY; HSUMMA_ERR_UNSUPPORTED if the operand cannot be stationary. */
hsumma_status hs_entering_bytes(const struct hs_problem *problem, int stationary, const struct hs_division *node,
                                const struct hs_allocator *memory, int64_t *bytes);

#endif
