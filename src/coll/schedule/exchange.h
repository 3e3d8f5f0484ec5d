/* The exchange between two layouts: one message for each pair of processes that share data. */
#ifndef HS_COLL_SCHEDULE_EXCHANGE_H
#define HS_COLL_SCHEDULE_EXCHANGE_H

#include "coll/schedule/steps.h"

/* The data for or from one peer: `count` bytes at offset `at` of IN if they are sent, of OUT if they are received. */
struct hs_piece {
    int peer;
    int64_t at, count;
};

/*
 * Builds the list of member `me` of `size`. Pieces are sorted by peer; a piece whose peer is `me` becomes a COPY. All
 * members order the messages by the distance from sender to receiver, cyclically, and by descending sender. So the
 * lists complete when executed in order, an executor with a limited window cannot block, and at any time members send
 * to different ones.
 */
hsumma_status hs_exchange_build(int me, int size, const struct hs_piece *to, int sends, const struct hs_piece *from,
                                int recvs, const struct hs_allocator *memory, struct hs_list *list);

#endif
