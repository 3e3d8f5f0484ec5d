/*
 * guard=product: the result of every execution is checked by checksums, and computed again if it is wrong.
 *
 * The rows of C are cut into blocks.  With weights w for the rows of a block, w C = alpha (w op(A)) op(B) + beta w C
 * for the old C on the right and the new one on the left (Huang and Abraham 1984).  Before the product, sums over all
 * processes give u = w op(A) for each block; each process then computes its parts of alpha u op(B) + beta w C.  After
 * the product it subtracts them from its part of w C.  The sum of the differences over all processes is zero but for
 * rounding, which hs_checksum_bound limits; it is tighter for lower blocks.  So the check reads A and B once and C once
 * (twice if beta is not 0), multiplies B by a vector per block, and moves two such vectors per block; it uses no panel
 * of the product, and covers any algorithm, transport and device.
 *
 * If a checksum differs by more, each process compares the bits of its parts of A and B with parities from before the
 * product and restores an element that has changed; C is restored from a copy if beta is not 0; and the product is
 * computed once more and checked by the same checksums.  If that fails too, all processes return HSUMMA_ERR_DATA.
 *
 * guard=messages: each message is followed by its CRC32C, and what processes of a node put into shared memory for each
 * other has one behind it (summa/shared_crc.h).  A process that finds a different CRC goes on, since others wait for
 * what it sends. After the product all processes agree on whether it is computed again, as above.
 *
 * All functions take a plan with a guard, and concern its running execution.  All processes of the plan's grid call
 * them, also those that own nothing.
 */
#ifndef HS_HSUMMA_GUARD_GUARD_H
#define HS_HSUMMA_GUARD_GUARD_H

#include "coll/run/agree.h"
#include "summa/checksum.h"

struct hs_guard;

/* The figures of all executions of a plan so far; equal on all processes, but for seconds. */
struct hs_guard_figures {
    int64_t checked, found, repaired; /* executions: checked, wrong at first, of these right in the end */
    int64_t unchecked;                /* columns of the last execution whose checksums are not finite */
    double seconds;                   /* of the last execution on this process, without waits */
    struct hs_message news;           /* what was found in the last execution; empty if C was right at once */
};

/* Makes plan->guard with some of its parts.  lender: the plan whose guard lends memory to that of another section, and
 * outlives it; NULL for a guard with memory of its own.  HSUMMA_ERR_MEMORY. */
hsumma_status hs_guard_create(hsumma_plan *plan, int parts, const hsumma_plan *lender, struct hs_message *message);
void hs_guard_destroy(const struct hs_allocator *memory, struct hs_guard *guard);
const struct hs_guard_figures *hs_guard_figures(const struct hs_guard *guard);

/* Rows of a block that has checksums of its own: more where many processes would need much memory for them. */
int64_t hs_guard_height(const hsumma_plan *plan);

/* Begins an execution: starts the sum of w op(A), and sets *sums to 1, if there are checksums; else the product may
 * begin. */
hsumma_status hs_guard_start(hsumma_plan *plan, int *sums);
/* Before the product, after hs_guard_advance is done: computes what w C must become, and copies C if needed. */
void hs_guard_expect(hsumma_plan *plan);
/* After the product: starts the sum of the differences, if hs_guard_start has set *sums to 1. */
hsumma_status hs_guard_check(hsumma_plan *plan, int *sums);
/* Advances a sum; sets *over to 1 when it is complete. */
hsumma_status hs_guard_advance(hsumma_plan *plan, int *worked, int *over);
/* Judges the differences and the messages, and starts the agreement on the result. */
hsumma_status hs_guard_judge(hsumma_plan *plan);
/* After the agreement: returns its status, and sets *again to 1 if the product has to be computed again; A, B and C are
 * then as before the execution. */
hsumma_status hs_guard_settle(hsumma_plan *plan, int *again);

#endif
