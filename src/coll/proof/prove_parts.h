/* What the parts of prove share: prove.c (the loops) and prove_draw.c (one configuration). */
#ifndef HS_COLL_PROOF_PROVE_PARTS_H
#define HS_COLL_PROOF_PROVE_PARTS_H

#include "coll/proof/prove.h"

/* How the ranks lie on the nodes. */
enum hs_placement { HS_ALONE, HS_BLOCKS, HS_ROUND_ROBIN, HS_UNEVEN, HS_PLACEMENTS };

struct hs_draw {
    uint64_t mix;
    int trial;
    int *number;   /* 2 * size: nodes and sockets of the ranks */
    int64_t *part; /* size + 1 */
    enum hs_placement placement;
    int sockets;
    struct hs_topology topology;
    struct hs_shape shape;
    struct hs_verify_options options;
};

/* A new configuration of `size` ranks, all of whose random choices follow from the seed; takes memory for arrays. */
hsumma_status hs_draw_begin(struct hs_draw *draw, uint64_t seed, int size, int root, int trial,
                            const struct hs_allocator *memory);
void hs_draw_end(struct hs_draw *draw, const struct hs_allocator *memory);
/* The length of the vector, its element, and the options of verify. */
void hs_draw_vector(struct hs_draw *draw, const struct hs_alg *alg);
/* The nodes: shape.topology, unless the placement is HS_ALONE; shared: with shared memory. */
hsumma_status hs_draw_topology(struct hs_draw *draw, enum hs_placement placement, int nodes, int shared,
                               const struct hs_allocator *memory);
/* The parameters that the row uses. */
void hs_draw_parameters(struct hs_draw *draw, const struct hs_alg *alg);
/* Everything that has been drawn, in words. */
void hs_draw_describe(const struct hs_draw *draw, const struct hs_alg *alg, char *text, size_t size);

#endif
