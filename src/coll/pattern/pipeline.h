/*
 * The pipeline through shared memory.  A vector, or every part of one, is cut into segments.  A segment takes a slot of
 * SHARED, which consists of `places`; ranks fill the places and signal, others wait for the signals and read, and once
 * all have read the slot is free for a later segment.  Who fills, reads and signals is up to the algorithm.
 */
#ifndef HS_COLL_PATTERN_PIPELINE_H
#define HS_COLL_PATTERN_PIPELINE_H

#include "coll/schedule/registry.h"

enum { HS_PIPE_SLOTS = 2 }; /* while one is filled, the other is read */

struct hs_pipe {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    int64_t segments; /* 0: there is too little room */
    int64_t pitch;    /* bytes of a place */
    int64_t slots, places;
};

/*
 * Cuts `bytes`, of which each place holds a segment, into segments of at most `most` bytes.  What fits into one slot
 * takes one slot; what does not takes two, or one of them if two are not `needed` and the room is short.
 */
struct hs_pipe hs_pipe_cut(const struct hs_shape *shape, int64_t bytes, int64_t most, int64_t places, int needed);
/* The same for the parts of shape->part, cut into equally many segments each, with two slots needed. */
struct hs_pipe hs_pipe_cut_parts(const struct hs_shape *shape, int64_t places);
/* Why the shared memory cannot serve the pipeline; NULL: it can.  steps: about as many as a segment takes in a list. */
const char *hs_pipe_unfit(const struct hs_pipe *pipeline, int64_t steps);

/* Where a place of a segment lies. */
static inline struct hs_ref hs_pipe_place(const struct hs_pipe *pipeline, int64_t segment, int64_t place)
{
    return hs_shared((segment % pipeline->slots * pipeline->places + place) * pipeline->pitch);
}

/* Bytes of the vector. */
struct hs_span {
    int64_t at, count;
};
struct hs_span hs_pipe_span(const struct hs_pipe *pipeline, int64_t segment);
/* Of the part of a rank. */
struct hs_span hs_pipe_part(const struct hs_pipe *pipeline, int rank, int64_t segment);

/* A JOIN after the steps of a kind from `first` on, and after `after` (-1: nothing else). */
int hs_emit_join_of(struct hs_builder *builder, enum hs_kind kind, int first, int after);
/* That of WAITs for a signal of each other rank of the shape. */
int hs_emit_wait_all(struct hs_builder *builder, const struct hs_shape *shape, int64_t value, int after);

/*
 * What a rank does with a segment, once step `after` is done (-1: at once): fills its places, or works on what all have
 * filled.  Returns the step that is done when all of it is.
 */
typedef int hs_round(void *state, int64_t segment, int after);

/*
 * Emits a pipeline in which all ranks do the same: while one segment is put into shared memory, the one before is
 * worked on.  A segment is put once all ranks have worked on the last but one, and worked on once all have put theirs;
 * after the last one no rank waits.  One signal and p-1 WAITs per segment.
 */
void hs_emit_rounds(struct hs_pipe *pipeline, hs_round *put, hs_round *work, void *state);

/* Bytes of data that a place of `bytes` bytes can hold: whole cache lines if it has any. */
int64_t hs_place_within(int64_t bytes, int64_t unit);

#endif
