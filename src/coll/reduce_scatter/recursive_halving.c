/*
 * Reduce-scatter, recursive halving with distance doubling: in round k the ranks at distance 2^k exchange halves of
 * their partial sums, so that only adjacent ranges are combined. After k rounds a rank keeps the parts of the ranks
 * that agree with it in the last k bits; these are adjacent in a copy of the vector whose parts are in bit-reversed
 * order. If q is not a power of two, the ranks of the first q - 2^floor(log2 q) pairs of neighbours are combined first:
 * the lower rank acts for both, and sends the other rank its part at the end.
 *
 * Cost for powers of two and equal parts: log2 q alpha + (1 - 1/q) m (beta + gamma), and a copy of the vector;
 * otherwise two more messages, of m bytes and of a part. Scratch memory: up to two vectors. Thakur, Rabenseifner and
 * Gropp, Optimization of Collective Communication Operations in MPICH (2005), for operations that do not commute.
 */
#include "coll/schedule/rows.h"

struct halving {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    struct hs_parts parts;
    /* 2^bits ranks act, the first `pairs` of them for two ranks each; me: this rank's number among the acting ranks. */
    int bits, pairs, me;
    int64_t *place; /* place[j]: offset of the j-th part in the bit-reversed copy; 2^bits + 1 entries */
};

/* The rank with number `acting` among the acting ranks. */
static int real_rank(const struct halving *h, int acting)
{
    return acting < h->pairs ? 2 * acting : acting + h->pairs;
}

static int64_t part_at(const struct halving *h, int acting)
{
    return hs_parts_at(&h->parts, real_rank(h, acting));
}

/* The acting rank that follows in bit-reversed order: adds one from the highest bit on. */
static int next_reversed(const struct halving *h, int acting)
{
    int bit = 1 << h->bits >> 1;
    for (; acting & bit; bit >>= 1)
        acting ^= bit;
    return acting | bit;
}

/* Makes the bit-reversed copy, adding the vector of the pair's other rank if there is one. Returns the last step. */
static int reorder(const struct halving *h)
{
    struct hs_builder *builder = h->builder;
    int64_t bytes = h->shape->bytes;
    int last = -1;
    if (h->me < h->pairs)
        last = hs_emit_recv(builder, h->shape->rank + 1, hs_scratch(bytes), bytes, -1);
    for (int j = 0, acting = 0; j < 1 << h->bits; j++, acting = next_reversed(h, acting)) {
        int64_t at = part_at(h, acting), count = h->place[j + 1] - h->place[j];
        struct hs_ref dst = hs_scratch(h->place[j]);
        /* Each step depends on the previous one, so the last one depends on all. */
        int step = h->me < h->pairs ? hs_emit_reduce(builder, dst, hs_in(at), hs_scratch(bytes + at), count, last)
                                    : hs_emit_copy(builder, dst, hs_in(at), count, last);
        if (step >= 0)
            last = step;
    }
    return last;
}

/* Sums mine and other in rank order, after step `received`; above: the peer has the higher rank. */
static int join(const struct halving *h, int above, struct hs_ref dst, struct hs_ref mine, struct hs_ref other,
                int64_t count, int received)
{
    return above ? hs_emit_reduce(h->builder, dst, mine, other, count, received)
                 : hs_emit_reduce(h->builder, dst, other, mine, count, received);
}

/* Writes the last round's sum to OUT, and sends the other rank of a pair its part. */
static void finish(const struct halving *h, int above, struct hs_ref mine, struct hs_ref other, int64_t count,
                   int received)
{
    int64_t own = hs_part_bytes(h->shape, h->shape->rank);
    join(h, above, hs_out(0), mine, other, own, received);
    if (h->me >= h->pairs)
        return;
    struct hs_ref its = hs_plus(mine, own);
    int reduced = join(h, above, its, its, hs_plus(other, own), count - own, received);
    hs_emit_send(h->builder, h->shape->rank + 1, its, count - own, reduced);
}

static void halve(const struct halving *h)
{
    struct hs_builder *builder = h->builder;
    int low = 0, high = 1 << h->bits, done = reorder(h); /* keeps places [low, high) of the bit-reversed copy */

    for (int k = 0; k < h->bits; k++) {
        int bit = h->me >> k & 1, peer = real_rank(h, h->me ^ 1 << k), middle = (low + high) / 2;
        int64_t begin = h->place[low], cut = h->place[middle], end = h->place[high];
        hs_emit_send(builder, peer, hs_scratch(bit ? begin : cut), bit ? cut - begin : end - cut, done);
        low = bit ? middle : low;
        high = bit ? high : middle;

        struct hs_ref mine = hs_scratch(h->place[low]), other = hs_scratch(h->shape->bytes);
        int64_t count = h->place[high] - h->place[low];
        int receive = hs_emit_recv(builder, peer, other, count, done); /* step `done` is the last reader of `other` */
        if (k + 1 == h->bits)
            finish(h, !bit, mine, other, count, receive);
        else
            done = join(h, !bit, mine, mine, other, count, receive);
    }
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    struct halving h = {.builder = builder, .shape = shape, .parts = hs_parts_of(shape)};
    int rank = shape->rank;
    while ((int64_t)2 << h.bits <= shape->size)
        h.bits++;
    h.pairs = shape->size - (1 << h.bits);
    if (rank < 2 * h.pairs && rank % 2 == 1) {
        hs_emit_send(builder, rank - 1, hs_in(0), shape->bytes, -1);
        hs_emit_recv(builder, rank - 1, hs_out(0), hs_part_bytes(shape, rank), -1);
    } else {
        h.me = rank < 2 * h.pairs ? rank / 2 : rank - h.pairs;
        h.place = hs_builder_get(builder, ((size_t)1 << h.bits) + 1, sizeof *h.place);
        for (int j = 0, acting = 0; h.place && j < 1 << h.bits; j++, acting = next_reversed(&h, acting))
            h.place[j + 1] = h.place[j] + part_at(&h, acting + 1) - part_at(&h, acting);
        if (h.place)
            halve(&h);
    }
}

HS_ALG(HS_REDUCE_SCATTER, reduce_scatter_recursive_halving, "recursive_halving", .build = build,
       .flags = HS_SUMS_IN_ORDER,
       .doc = "pairs exchange halves of their data: log2 q alpha + (1 - 1/q) m (beta + gamma)");
