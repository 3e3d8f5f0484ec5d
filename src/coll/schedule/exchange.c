#include "coll/schedule/exchange.h"

/* The distance from one member to another, of `size`. */
static int distance(int from, int to, int size)
{
    return to >= from ? to - from : to - from + size;
}

/* The index of the first piece whose peer is above `me`; 0 if there is none. */
static int first_above(int me, const struct hs_piece *piece, int count)
{
    int i = 0;
    while (i < count && piece[i].peer <= me)
        i++;
    return i < count ? i : 0;
}

/* The index of the last piece whose peer is below `me`; the last of all if there is none. */
static int last_below(int me, const struct hs_piece *piece, int count)
{
    int i = count - 1;
    while (i >= 0 && piece[i].peer >= me)
        i--;
    return i >= 0 ? i : count - 1;
}

/* Emits the COPY, if there is one, and returns 1; otherwise returns 0. */
static int emit_own(struct hs_builder *builder, int me, const struct hs_piece *to, int sends,
                    const struct hs_piece *from, int recvs)
{
    for (int i = 0; i < sends; i++)
        for (int j = 0; to[i].peer == me && j < recvs; j++)
            if (from[j].peer == me) {
                hs_emit_copy(builder, hs_out(from[j].at), hs_in(to[i].at), to[i].count, -1);
                return 1;
            }
    return 0;
}

hsumma_status hs_exchange_build(int me, int size, const struct hs_piece *to, int sends, const struct hs_piece *from,
                                int recvs, const struct hs_allocator *memory, struct hs_list *list)
{
    struct hs_builder builder;
    hs_list_begin(&builder, memory);
    int own = emit_own(&builder, me, to, sends, from, recvs), s = sends - own, r = recvs - own;
    int i = first_above(me, to, sends), j = last_below(me, from, recvs);
    while (s > 0 || r > 0) {
        int ahead = s > 0 ? distance(me, to[i].peer, size) : size;
        int behind = r > 0 ? distance(from[j].peer, me, size) : size;
        if (behind < ahead || (behind == ahead && from[j].peer > me)) {
            hs_emit_recv(&builder, from[j].peer, hs_out(from[j].at), from[j].count, -1);
            j = j > 0 ? j - 1 : recvs - 1;
            r--;
        } else {
            hs_emit_send(&builder, to[i].peer, hs_in(to[i].at), to[i].count, -1);
            i = i + 1 < sends ? i + 1 : 0;
            s--;
        }
    }
    return hs_list_finish(&builder, list);
}
