#include "coll/ring.h"

/* Receives that are posted at a time; distinct bytes, so any number would be right. */
enum { POSTED = 2 };

void hs_emit_ring(struct hs_builder *builder, const struct hs_shape *shape, int (*held)(int rank, int size),
                  enum hs_slot own, int after)
{
    int size = shape->size, rank = shape->rank;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int received = -1, posted[POSTED] = {-1, -1};
    int receives = 0;

    /* In round i rank r passes on part r - i + 1, which it has received in round i - 1 unless it held it before. */
    for (int i = 1; i < size; i++) {
        int out = (rank - i + 1 + size) % size, in = (rank - i + size) % size;
        if ((out - next + size) % size >= held(next, size)) {
            int64_t at = hs_part_at(shape, out);
            struct hs_ref source = out == rank && own == HS_IN ? hs_in(0) : hs_out(at);
            int send = hs_emit_send(builder, next, source, hs_part_at(shape, out + 1) - at);
            hs_after(builder, send, received);
            hs_after(builder, send, after); /* one message at a time on the link */
            if (send >= 0)
                after = send;
        }
        received = -1;
        if ((in - rank + size) % size >= held(rank, size)) {
            int64_t at = hs_part_at(shape, in);
            received = hs_emit_recv(builder, previous, hs_out(at), hs_part_at(shape, in + 1) - at);
            hs_after(builder, received, posted[receives % POSTED]);
            if (received >= 0)
                posted[receives++ % POSTED] = received;
        }
    }
}
