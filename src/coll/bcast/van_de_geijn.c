/*
 * Broadcast, van de Geijn: the root scatters the parts down a binomial tree, then a ring sends every part to the ranks
 * that lack it. The root never receives; an inner rank of the tree keeps the parts that it has forwarded.
 *
 * Cost: (log2 q + q - 1) alpha + 2 (1 - 1/q) m beta for powers of two and equal parts. Hierarchical Parallel Matrix
 * Multiplication (ICPP 2013), Section IV; here for any size and partition.
 */
#include "coll/pattern/ring.h"
#include "coll/schedule/rows.h"

/* The number of consecutive parts, from its own on, that a rank has after the scatter: the size of its subtree. */
static int subtree(int rank, int size)
{
    int lowest_bit = rank & -rank;
    return rank == 0 || lowest_bit > size - rank ? size - rank : lowest_bit;
}

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int rank = shape->rank, size = shape->size, last = -1;
    int64_t begin = hs_part_at(shape, rank), bit = 1;

    if (rank > 0)
        last = hs_emit_recv(builder, rank - (rank & -rank), hs_out(begin),
                            hs_part_at(shape, rank + subtree(rank, size)) - begin, -1);
    while (bit < size && !(rank & bit))
        bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
        int peer = (int)(rank + bit);
        if (peer >= size)
            continue;
        int64_t at = hs_part_at(shape, peer);
        /* in this order, the largest subtree is served first */
        hs_emit_send_next(builder, peer, hs_out(at), hs_part_at(shape, peer + subtree(peer, size)) - at, -1, &last);
    }
    hs_emit_ring(builder, shape, subtree, HS_OUT, last);
}

HS_ALG(
    HS_BCAST, bcast_van_de_geijn, "van_de_geijn", .build = build, .flags = HS_LIKE_MPI,
    .doc =
        "binomial scatter, ring allgather: (log2 q + q-1) alpha + 2(1 - 1/q) m beta; HSUMMA (ICPP 2013), Section IV");
