/* What the parts of prove share: prove.c (the loops) and prove_draw.c (one configuration). */
#ifndef HS_COLL_PROOF_PROVE_PARTS_H
#define HS_COLL_PROOF_PROVE_PARTS_H

#include "coll/proof/prove.h"

/* How the ranks lie on the nodes. */
enum hs_placement { HS_ALONE, HS_BLOCKS, HS_ROUND_ROBIN, HS_UNEVEN, HS_PLACEMENTS };

/* A configuration.  The caller says the seed, the trial, the nodes, and the size and the root of the shape. */
struct hs_draw {
    uint64_t mix; /* the seed, from which all random choices follow */
    int trial;
    enum hs_placement placement;
    int nodes, shared; /* unless they are alone: how many; with shared memory */
    int *number;       /* 2 * size: nodes and sockets of the ranks */
    int64_t *part;     /* size + 1 */
    int sockets;
    struct hs_topology topology;
    struct hs_shape shape;
    struct hs_verify_options options;
};

/* Draws the rest of it: the vector, the options of verify, the topology, the parameters that the row uses. */
hsumma_status hs_draw(struct hs_draw *draw, const struct hs_alg *alg, const struct hs_allocator *memory);
void hs_draw_end(struct hs_draw *draw, const struct hs_allocator *memory);
/* Everything that has been drawn, in words. */
void hs_draw_describe(const struct hs_draw *draw, const struct hs_alg *alg, char *text, size_t size);

#endif
