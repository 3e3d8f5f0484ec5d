#include "coll/pattern/ring.h"

/* The number of receives in flight. They write disjoint bytes, so any number would be correct. */
enum { POSTED = 2 };
/* Buffers for partial sums: one is being sent, one received, and a receive is posted for the third. */
enum { BUFFERS = 3 };

static int around(int i, int size)
{
    return i < 0 ? i + size : i;
}

void hs_emit_ring(struct hs_builder *builder, const struct hs_shape *shape, int (*held)(int rank, int size),
                  enum hs_slot own, int after)
{
    int size = shape->size, rank = shape->rank;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int mine = held ? held(rank, size) : 1, theirs = held ? held(next, size) : 1;
    int received = -1, posted[POSTED] = {-1, -1}, receives = 0;
    const struct hs_parts parts = hs_parts_of(shape);
    struct hs_span sent = hs_parts_span(&parts, rank), part;

    /* In round i rank r sends part r - i + 1, which it had at the start or received in round i - 1. */
    for (int i = 1; i < size; i++, sent = part) {
        part = hs_parts_span(&parts, around(rank - i, size));
        if (size - i >= theirs) { /* of its first `theirs` parts the next rank has all; this is number size - i */
            struct hs_ref source = i == 1 && own == HS_IN ? hs_in(0) : hs_out(sent.at);
            hs_emit_send_next(builder, next, source, sent.count, received, &after);
        }
        received = -1;
        if (size - i >= mine) {
            received = hs_emit_recv(builder, previous, hs_out(part.at), part.count, posted[receives % POSTED]);
            if (received >= 0)
                posted[receives++ % POSTED] = received;
        }
    }
}

int hs_emit_ring_sums(struct hs_builder *builder, const struct hs_shape *shape, struct hs_ref sum)
{
    int size = shape->size, rank = shape->rank;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int64_t longest = hs_longest_part(shape);
    int reduced = -1, sent = -1, read[BUFFERS] = {-1, -1, -1}; /* read[i]: the last SEND from buffer i */
    const struct hs_parts parts = hs_parts_of(shape);
    struct hs_span out = hs_parts_span(&parts, previous), in;

    /* In round i rank r sends the sum of part r - i: the sum received in round i - 1 plus its own contribution. */
    for (int i = 1; i < size; i++, out = in) {
        in = hs_parts_span(&parts, around(rank - i - 1, size));
        struct hs_ref buffer = hs_scratch(i % BUFFERS * longest), before = hs_scratch((i - 1) % BUFFERS * longest);
        int send = hs_emit_send_next(builder, next, i == 1 ? hs_in(out.at) : before, out.count, reduced, &sent);
        if (send >= 0)
            read[(i - 1) % BUFFERS] = send;

        int receive = hs_emit_recv(builder, previous, buffer, in.count, read[i % BUFFERS]);
        reduced = hs_emit_reduce(builder, i + 1 < size ? buffer : sum, buffer, hs_in(in.at), in.count, receive);
    }
    return reduced < 0 ? sent : reduced;
}
