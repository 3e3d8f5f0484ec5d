/* Internal declarations of prove: prove.c has the loops, prove_draw.c draws one configuration. */
#ifndef HS_COLL_PROOF_PROVE_PARTS_H
#define HS_COLL_PROOF_PROVE_PARTS_H

#include "coll/proof/prove.h"

/* The placement of ranks on nodes. HS_ALONE: no topology. */
enum hs_placement { HS_ALONE, HS_BLOCKS, HS_ROUND_ROBIN, HS_UNEVEN, HS_PLACEMENTS };

/* A configuration. The caller sets mix, trial, placement, nodes, shared, and the size and root of the shape. */
struct hs_draw {
    uint64_t mix; /* state of the random generator that makes all choices */
    int trial;
    enum hs_placement placement;
    int nodes, shared; /* nodes: number of nodes; shared: true if they have shared memory; both unused for HS_ALONE */
    int *number;       /* 2 * size entries: the node of each rank, then the socket of each rank */
    int64_t *part;     /* size + 1 entries, as hs_shape.part */
    int sockets;
    struct hs_topology topology;
    struct hs_box box;
    struct hs_shape shape;
    struct hs_verify_options options;
};

/* Draws the remaining fields: the vector, the options of verify, the topology, the parameters that the row uses. */
hsumma_status hs_draw(struct hs_draw *draw, const struct hs_alg *alg, const struct hs_allocator *memory);
void hs_draw_end(struct hs_draw *draw, const struct hs_allocator *memory);
/* Describes the configuration, for a message. */
void hs_draw_describe(const struct hs_draw *draw, const struct hs_alg *alg, char *text, size_t size);

#endif
