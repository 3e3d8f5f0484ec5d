/*
 * Allgather, ring: in each of q - 1 rounds every rank forwards to its right neighbour the part received in the previous
 * round.
 *
 * Cost: (q - 1)(alpha + m/q beta) for equal parts. Parts may differ in length and may be empty.
 */
#include "coll/pattern/ring.h"
#include "coll/schedule/rows.h"

static void build(struct hs_builder *builder, const struct hs_shape *shape)
{
    hs_emit_ring(builder, shape, NULL, HS_IN, -1);
    /* Last in the list, so that it does not delay the first messages; no step depends on it. */
    hs_emit_copy(builder, hs_out(hs_part_at(shape, shape->rank)), hs_in(0), hs_part_bytes(shape, shape->rank), -1);
}

HS_ALG(HS_ALLGATHER, allgather_ring, "ring", .build = build,
       .doc = "every part travels once around the ring: (q-1)(alpha + m/q beta)");
