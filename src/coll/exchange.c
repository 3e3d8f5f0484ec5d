#include "coll/exchange.h"

hsumma_status hs_exchange_build(int me, const struct hs_piece *to, int sends, const struct hs_piece *from, int recvs,
                                const struct hs_allocator *memory, struct hs_list *list)
{
    struct hs_builder builder;
    int64_t own = -1;
    hs_list_begin(&builder, memory);
    for (int i = 0; i < recvs; i++) {
        if (from[i].peer == me)
            own = from[i].at;
        else
            hs_emit_recv(&builder, from[i].peer, hs_out(from[i].at), from[i].count);
    }
    for (int i = 0; i < sends; i++) {
        if (to[i].peer == me)
            hs_emit_copy(&builder, hs_out(own), hs_in(to[i].at), to[i].count);
        else
            hs_emit_send(&builder, to[i].peer, hs_in(to[i].at), to[i].count);
    }
    return hs_list_finish(&builder, list);
}
