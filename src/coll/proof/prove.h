/*
 * prove verifies every row of the registry except "mpi" over a range of groups: every number of ranks up to a limit
 * with every root, some larger numbers, and many placements on nodes. For each of them it draws a sample of all other
 * options with a random generator seeded with the configuration, so the same range always gives the same runs.
 */
#ifndef HS_COLL_PROOF_PROVE_H
#define HS_COLL_PROOF_PROVE_H

#include "coll/proof/verify.h"

struct hs_prove_range {
    const struct hs_alg *alg; /* the only row to verify; NULL for all rows */
    unsigned collectives;     /* the collectives to verify, 1 << HS_BCAST | ...; 0 for all */
    int ranks;                /* every number of ranks up to this one is verified, with every root */
    const int *more;          /* further numbers of ranks, with a few roots */
    int mores;
    int nodes, per_node; /* rows that use the topology: all numbers of nodes, and of ranks per node, up to these */
    uint64_t seed;
};

/*
 * Numbers of ranks 1 .. 64, 96, 100, 127, 128, 255, 256, 1000, and up to 40 nodes of up to 16 ranks. For rows with
 * HS_ON_HOST only 1 .. 64, and up to 8 nodes of up to 16 ranks.
 */
extern const struct hs_prove_range hs_prove_everything;

struct hs_prove_row {
    const struct hs_alg *alg;
    int64_t runs, failures, not_built; /* not_built: failures in which the builder rejected a shape that fits */
    int64_t points, unfit;             /* points: number of points of the range, which are (ranks, root) and (nodes,
                                          per_node); unfit: number of points for which no configuration drawn fits the
                                          row */
    int largest;                       /* largest number of ranks verified */
    char text[640];                    /* the first failure and its configuration */
};

struct hs_prove_report {
    int rows, foreign; /* foreign: rows performed by MPI or by a function of the caller, not counted in `rows` */
    int64_t runs, failures, not_built;
    char text[640];
};

typedef void hs_prove_progress(void *state, const struct hs_prove_row *row);

/*
 * Proves all rows of the range, and calls progress, which may be NULL, after each row. Returns HSUMMA_OK;
 * HSUMMA_ERR_INTERNAL if a run failed; HSUMMA_ERR_MEMORY as soon as memory is exhausted.
 */
hsumma_status hs_prove(const struct hs_prove_range *range, hs_prove_progress *progress, void *state,
                       const struct hs_allocator *memory, struct hs_prove_report *report);

#endif
