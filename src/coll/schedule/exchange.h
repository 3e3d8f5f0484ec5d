/* The exchange of two layouts: every pair of processes that share something sends one message. */
#ifndef HS_COLL_SCHEDULE_EXCHANGE_H
#define HS_COLL_SCHEDULE_EXCHANGE_H

#include "coll/schedule/steps.h"

/* What goes to or comes from one peer: `count` bytes at offset `at` of IN (to) or OUT (from). */
struct hs_piece {
    int peer;
    int64_t at, count;
};

/*
 * Pieces are in ascending order of peers.  The steps are in one order for all members (by sender), so that done one
 * after the other they end, and an executor that looks only so far ahead cannot be stuck; what stays on `me` is a copy.
 */
hsumma_status hs_exchange_build(int me, const struct hs_piece *to, int sends, const struct hs_piece *from, int recvs,
                                const struct hs_allocator *memory, struct hs_list *list);

#endif
