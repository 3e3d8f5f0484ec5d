/*
 * The pipeline through shared memory. A vector, or every part of one, is cut into segments. A segment occupies a slot
 * of SHARED, which consists of `places`. Ranks fill the places and signal; others wait for the signals and read; once
 * all have read, a later segment may reuse the slot. The algorithm decides which ranks fill, read and signal.
 */
#ifndef HS_COLL_PATTERN_PIPELINE_H
#define HS_COLL_PATTERN_PIPELINE_H

#include "coll/schedule/registry.h"

enum { HS_PIPE_SLOTS = 2 }; /* one is filled while the other is read */

struct hs_pipe {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    int64_t segments; /* 0: there is too little shared memory */
    int64_t pitch;    /* bytes of a place */
    int64_t slots, places;
};

/*
 * Cuts `bytes` into segments of at most `most` bytes, each of which fits in a place. One slot if the whole fits in it;
 * else two, or one if two are not `needed` and the shared memory is too small for them.
 */
struct hs_pipe hs_pipe_cut(const struct hs_shape *shape, int64_t bytes, int64_t most, int64_t places, int needed);
/* Cuts the parts of shape->part, all into equally many segments, with two slots needed. */
struct hs_pipe hs_pipe_cut_parts(const struct hs_shape *shape, int64_t places);
/* Why the shared memory is too small for the pipeline, or NULL. steps: about how many a list has per segment. */
const char *hs_pipe_unfit(const struct hs_pipe *pipeline, int64_t steps);

/* Where a place of a segment is. */
static inline struct hs_ref hs_pipe_place(const struct hs_pipe *pipeline, int64_t segment, int64_t place)
{
    return hs_shared((segment % pipeline->slots * pipeline->places + place) * pipeline->pitch);
}

/* A range of bytes of the vector. */
struct hs_span {
    int64_t at, count;
};
struct hs_span hs_pipe_span(const struct hs_pipe *pipeline, int64_t segment);
/* The range of a segment of a rank's part. */
struct hs_span hs_pipe_part(const struct hs_pipe *pipeline, int rank, int64_t segment);

/* Emits a JOIN that depends on all steps of `kind` from index `first` on, and on `after` (-1: none). */
int hs_emit_join_of(struct hs_builder *builder, enum hs_kind kind, int first, int after);
/* Emits WAITs for `value` from all other ranks, and a JOIN that depends on them and on `after`. */
int hs_emit_wait_all(struct hs_builder *builder, const struct hs_shape *shape, int64_t value, int after);

/*
 * A rank's work on a segment, which depends on step `after` (-1: none): fills its places, or reads what all have
 * filled. Returns the step that completes last.
 */
typedef int hs_round(void *state, int64_t segment, int after);

/*
 * Emits a pipeline in which all ranks do the same: `put` a segment into shared memory, then `work` on the previous one.
 * A segment is put once all ranks have worked on the segment two before it, and worked on once all have put it. No rank
 * waits after the last segment. One signal and p-1 WAITs per segment.
 */
void hs_emit_rounds(struct hs_pipe *pipeline, hs_round *put, hs_round *work, void *state);

/* Bytes of data that fit in a place of `bytes` bytes: whole cache lines if there is room for one. */
int64_t hs_place_within(int64_t bytes, int64_t unit);

#endif
