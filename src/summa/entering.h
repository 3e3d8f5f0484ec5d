/* What must enter the nodes, or the processes, in a product, whatever carries it: a function of the layout alone. */
#ifndef HS_SUMMA_ENTERING_H
#define HS_SUMMA_ENTERING_H

#include "coll/schedule/topology.h"
#include "summa/problem.h"

/* Bytes of the moving operands that must enter each part of a division of all ranks, nodes or processes:
 * bytes[0 .. node->parts).  The processes of a line need the same part of a moving A or B; of it, what no process of a
 * node owns enters the node once, if a member of the line multiplies there.  Of a moving C, a node gets once what it
 * owns and others have sums of.  HSUMMA_ERR_MEMORY; HSUMMA_ERR_UNSUPPORTED for a stationary operand that cannot be. */
hsumma_status hs_entering_bytes(const struct hs_problem *problem, int stationary, const struct hs_division *node,
                                const struct hs_allocator *memory, int64_t *bytes);

#endif
