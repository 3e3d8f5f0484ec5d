/* The exchange of two layouts: every pair of processes that share something sends one message. */
#ifndef HS_COLL_EXCHANGE_H
#define HS_COLL_EXCHANGE_H

#include "coll/steps.h"

/* What goes to or comes from one peer: `count` bytes at offset `at` of IN (to) or OUT (from). */
struct hs_piece {
    int peer;
    int64_t at, count;
};

/* Receives first, so that nothing arrives unexpected; what stays on `me` is a copy. */
hsumma_status hs_exchange_build(int me, const struct hs_piece *to, int sends, const struct hs_piece *from, int recvs,
                                const struct hs_allocator *memory, struct hs_list *list);

#endif
