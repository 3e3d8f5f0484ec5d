/* Embeds a collective in a composed one, as a stage of it. */
#ifndef HS_COLL_PATTERN_EMBED_H
#define HS_COLL_PATTERN_EMBED_H

#include "coll/schedule/registry.h"

/* Maps the inner collective into the outer one. */
struct hs_embedding {
    const int *rank;       /* outer rank of each inner rank, indexed by inner rank; NULL if they are equal */
    struct hs_ref in, out; /* positions in outer slots where the inner IN and OUT begin */
    int64_t scratch;       /* byte offset of the inner SCRATCH in the outer one */
    int64_t shared;        /* byte offset of the inner SHARED in the outer one; equal on all ranks */
    int64_t signal;        /* added to the values of inner SIGNALs and WAITs; equal on all ranks */
    int after;             /* outer step that the inner steps depend on; -1 if none */
};

/* The number of signal values reserved for each stage: the next stage starts this much higher. */
enum { HS_STAGE_SIGNALS = 1 << 24 };

/*
 * Appends the steps of inner->rank. inner->rank and inner->root are true (unrotated) ranks of the inner group, whatever
 * the row's flags. Returns the step that completes last (a JOIN if several steps may), or embedding->after if there are
 * no steps. If scratch is not NULL, *scratch becomes the end of the inner SCRATCH. The builder fails if the row does
 * not fit (HSUMMA_ERR_UNSUPPORTED).
 */
int hs_embed(struct hs_builder *builder, const struct hs_alg *alg, const struct hs_shape *inner,
             const struct hs_embedding *embedding, int64_t *scratch);

/*
 * Interleaves `parts` independent stages whose steps differ only in their offsets. On entry, stage i consists of the
 * steps [begin[i], begin[i + 1]); on return the first steps of all stages come first, then the second ones, and so on.
 * step[i], the index of a step of stage i or before all stages, is updated. Executors and ports proceed in list order,
 * so one stage computes while another communicates. No later step may depend on the stages yet.
 */
void hs_interleave(struct hs_builder *builder, const int *begin, int parts, int *step);

#endif
