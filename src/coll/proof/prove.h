/*
 * prove: verifies every row of the registry over a range of groups: every number of ranks, every root, and nodes of all
 * kinds. For each of these a sample of all other options is drawn by a generator seeded with the configuration, so the
 * same range always gives the same runs.
 */
#ifndef HS_COLL_PROOF_PROVE_H
#define HS_COLL_PROOF_PROVE_H

#include "coll/proof/verify.h"

struct hs_prove_range {
    const struct hs_alg *alg; /* only this row; NULL: all */
    unsigned collectives;     /* only these collectives: 1 << HS_BCAST | ...; 0: all */
    int ranks;                /* every number of ranks up to this, with every root */
    const int *more;          /* further numbers of ranks, with a few roots */
    int mores;
    int nodes, per_node; /* every number of nodes combined with every number of ranks per node, up to these */
    uint64_t seed;
};

/*
 * p = 1 .. 64, 96, 100, 127, 128, 255, 256, 1000; up to 40 nodes of up to 16 ranks (HS_ON_HOST rows: 64 ranks, 8
 * nodes).
 */
extern const struct hs_prove_range hs_prove_everything;

struct hs_prove_row {
    const struct hs_alg *alg;
    int64_t runs, failures, not_built; /* not_built: failures in which the builder refused a shape that fits */
    int64_t points, unfit;             /* of the range: (p, root) and (nodes, per_node); unfit: refused by the row */
    int largest;                       /* largest number of ranks verified */
    char text[640];                    /* the first failure and its configuration */
};

struct hs_prove_report {
    int rows, foreign; /* foreign: rows "mpi", which are not counted in `rows` */
    int64_t runs, failures, not_built;
    char text[640];
};

typedef void hs_prove_progress(void *state, const struct hs_prove_row *row);

/*
 * Calls progress (may be NULL) after each row. HSUMMA_OK; HSUMMA_ERR_INTERNAL if a run failed; HSUMMA_ERR_MEMORY,
 * returned immediately.
 */
hsumma_status hs_prove(const struct hs_prove_range *range, hs_prove_progress *progress, void *state,
                       const struct hs_allocator *memory, struct hs_prove_report *report);

#endif
