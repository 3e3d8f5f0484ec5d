/* One collective inside another: stages of a composition. */
#ifndef HS_COLL_PATTERN_EMBED_H
#define HS_COLL_PATTERN_EMBED_H

#include "coll/schedule/registry.h"

/* How the inner collective lies in the outer one. */
struct hs_embedding {
    const int *rank;       /* outer rank of each inner rank; NULL: the same */
    struct hs_ref in, out; /* where the inner IN and OUT begin */
    int64_t scratch;       /* where the inner SCRATCH begins in the outer one */
    int64_t shared;        /* where the inner SHARED begins in the outer one, alike on all ranks */
    int64_t signal;        /* added to the values of inner SIGNALs and WAITs, alike on all ranks */
    int after;             /* step that the inner steps wait for; -1: none */
};

/* Values of signals that an embedded collective may use; the next stage begins so much higher. */
enum { HS_STAGE_SIGNALS = 1 << 24 };

/*
 * Appends the steps of inner->rank (a true rank of the inner group, whatever the row's flags; inner->root likewise) and
 * returns the step that is done when all of them are: `after` if there are none.  *scratch, if not NULL, becomes the
 * end of the inner scratch.  The builder fails if the row does not fit (HSUMMA_ERR_UNSUPPORTED).
 */
int hs_embed(struct hs_builder *builder, const struct hs_alg *alg, const struct hs_shape *inner,
             const struct hs_embedding *embedding, int64_t *scratch);

/*
 * Lets `parts` independent stages, whose steps are the same up to where they lie, take turns: the steps from begin[0]
 * on are the stages one after the other, stage i from begin[i] up to begin[i + 1]; afterwards the first step of each
 * comes first, then the second ones, and so on.  step[i], a step of stage i or an earlier one, becomes its new number.
 * Ports and executors go by list order, so it is this order that lets one stage compute while another communicates.
 * Nothing emitted behind them may depend on them yet.
 */
void hs_interleave(struct hs_builder *builder, const int *begin, int parts, int *step);

#endif
