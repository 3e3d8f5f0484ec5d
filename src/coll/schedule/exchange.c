#include "coll/schedule/exchange.h"

hsumma_status hs_exchange_build(int me, int size, const struct hs_piece *to, int sends, const struct hs_piece *from,
                                int recvs, const struct hs_allocator *memory, struct hs_list *list)
{
    struct hs_builder builder;
    hs_list_begin(&builder, memory);
    int i = 0, j = recvs - 1;
    while (i < sends && to[i].peer < me)
        i++;
    while (j >= 0 && from[j].peer > me)
        j--;
    for (int d = 0; d < size; d++) {
        i = i < sends ? i : 0;
        j = j >= 0 ? j : recvs - 1;
        const int sender = d <= me ? me - d : me - d + size;
        const int gets = recvs > 0 && from[j].peer == sender, gives = sends > 0 && to[i].peer == (me + d) % size;
        if (d == 0 && gets && gives) {
            hs_emit_copy(&builder, hs_out(from[j].at), hs_in(to[i].at), to[i].count, -1);
        } else {
            if (gets && sender > me)
                hs_emit_recv(&builder, sender, hs_out(from[j].at), from[j].count, -1);
            if (gives)
                hs_emit_send(&builder, to[i].peer, hs_in(to[i].at), to[i].count, -1);
            if (gets && sender < me)
                hs_emit_recv(&builder, sender, hs_out(from[j].at), from[j].count, -1);
        }
        i += gives;
        j -= gets;
    }
    return hs_list_finish(&builder, list);
}
