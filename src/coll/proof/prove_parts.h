/* Shared by prove.c (the loops) and prove_draw.c (one configuration). */
#ifndef HS_COLL_PROOF_PROVE_PARTS_H
#define HS_COLL_PROOF_PROVE_PARTS_H

#include "coll/proof/prove.h"

/* How the ranks are placed on nodes. */
enum hs_placement { HS_ALONE, HS_BLOCKS, HS_ROUND_ROBIN, HS_UNEVEN, HS_PLACEMENTS };

/* A configuration. The caller sets mix, trial, placement, nodes, shared, and the size and root of the shape. */
struct hs_draw {
    uint64_t mix; /* seed from which all random choices follow */
    int trial;
    enum hs_placement placement;
    int nodes, shared; /* number of nodes, whether they have shared memory; unused for HS_ALONE */
    int *number;       /* 2 * size: node, then socket of each rank */
    int64_t *part;     /* size + 1 */
    int sockets;
    struct hs_topology topology;
    struct hs_shape shape;
    struct hs_verify_options options;
};

/* Draws the rest: the vector, the options of verify, the topology, the parameters that the row uses. */
hsumma_status hs_draw(struct hs_draw *draw, const struct hs_alg *alg, const struct hs_allocator *memory);
void hs_draw_end(struct hs_draw *draw, const struct hs_allocator *memory);
/* Describes everything drawn, for a message. */
void hs_draw_describe(const struct hs_draw *draw, const struct hs_alg *alg, char *text, size_t size);

#endif
