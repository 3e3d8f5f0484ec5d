/*
 * Broadcast, binomial tree: rank r receives from r without its lowest set bit, then sends to r + 2^j for all 2^j below
 * that bit, the largest subtree first.
 *
 * Cost: ceil(log2 q)(alpha + m beta). Hierarchical Parallel Matrix Multiplication (ICPP 2013), Section IV.
 */
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    int64_t rank = shape->rank, bit = 1;
    int last = -1;

    while (bit < shape->size && !(rank & bit))
        bit *= 2;
    if (rank > 0)
        last = hs_emit_recv(builder, (int)(rank - bit), hs_out(0), shape->bytes, -1);
    /* One message at a time: concurrent ones would share the link and delay the largest subtree. */
    for (bit /= 2; bit > 0; bit /= 2)
        if (rank + bit < shape->size)
            last = hs_emit_send(builder, (int)(rank + bit), hs_out(0), shape->bytes, last);
}

HS_ALG(HS_BCAST, bcast_binomial, "binomial", .build = build, .flags = HS_LIKE_MPI,
       .doc = "binomial tree: ceil(log2 q)(alpha + m beta); HSUMMA (ICPP 2013), Section IV");
