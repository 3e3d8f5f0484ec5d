/* Embeds one collective in another, as a stage of a composed one. */
#ifndef HS_COLL_PATTERN_EMBED_H
#define HS_COLL_PATTERN_EMBED_H

#include "coll/schedule/registry.h"

/* Maps the inner collective into the outer one. */
struct hs_embedding {
    const int *rank;       /* outer rank of each inner rank; NULL: the same numbers */
    struct hs_ref in, out; /* where the inner IN and OUT begin */
    int64_t scratch;       /* where the inner SCRATCH begins in the outer one */
    int64_t shared;        /* where the inner SHARED begins in the outer one; equal on all ranks */
    int64_t signal;        /* added to the values of inner SIGNALs and WAITs; equal on all ranks */
    int after;             /* step that the inner steps depend on; -1: none */
};

/* Range of signal values for an embedded collective; the next stage starts this much higher. */
enum { HS_STAGE_SIGNALS = 1 << 24 };

/*
 * Appends the steps of inner->rank, which like inner->root is a true rank of the inner group, whatever the row's flags.
 * Returns the step that completes last (a JOIN if need be), or `after` if there are none. *scratch, unless NULL,
 * becomes the end of the inner scratch. The builder fails if the row does not fit (HSUMMA_ERR_UNSUPPORTED).
 */
int hs_embed(struct hs_builder *builder, const struct hs_alg *alg, const struct hs_shape *inner,
             const struct hs_embedding *embedding, int64_t *scratch);

/*
 * Interleaves `parts` independent stages whose steps differ only in their offsets. Before, stage i is the steps from
 * begin[i] up to begin[i + 1]; afterwards the first steps of all stages come first, then the second ones, and so on.
 * step[i], a step of stage i or earlier, becomes its new index. Ports and executors proceed in list order, so this lets
 * one stage compute while another communicates. No later step may depend on the stages yet.
 */
void hs_interleave(struct hs_builder *builder, const int *begin, int parts, int *step);

#endif
