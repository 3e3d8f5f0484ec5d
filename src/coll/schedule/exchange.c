#include "coll/schedule/exchange.h"

hsumma_status hs_exchange_build(int me, const struct hs_piece *to, int sends, const struct hs_piece *from, int recvs,
                                const struct hs_allocator *memory, struct hs_list *list)
{
    struct hs_builder builder;
    int64_t own = -1;
    hs_list_begin(&builder, memory);
    int i = 0;
    for (; i < recvs && from[i].peer < me; i++)
        hs_emit_recv(&builder, from[i].peer, hs_out(from[i].at), from[i].count, -1);
    if (i < recvs && from[i].peer == me)
        own = from[i++].at;
    for (int j = 0; j < sends; j++) {
        if (to[j].peer == me)
            hs_emit_copy(&builder, hs_out(own), hs_in(to[j].at), to[j].count, -1);
        else
            hs_emit_send(&builder, to[j].peer, hs_in(to[j].at), to[j].count, -1);
    }
    for (; i < recvs; i++)
        hs_emit_recv(&builder, from[i].peer, hs_out(from[i].at), from[i].count, -1);
    return hs_list_finish(&builder, list);
}
