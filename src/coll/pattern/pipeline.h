/*
 * The pipeline through shared memory. A vector, or every part of one, is cut into segments. A segment occupies a slot
 * of SHARED; a slot consists of equally long buffers, its places. Ranks fill places and signal; other ranks wait for
 * the signals and read the places. When all of them have read a slot, a later segment may reuse it. The algorithm
 * decides which ranks fill, read and signal.
 */
#ifndef HS_COLL_PATTERN_PIPELINE_H
#define HS_COLL_PATTERN_PIPELINE_H

#include "coll/schedule/registry.h"

enum { HS_PIPE_SLOTS = 2 }; /* ranks fill one slot while they read the other */

struct hs_pipe {
    struct hs_builder *builder;
    const struct hs_shape *shape;
    int64_t segments; /* number of segments; 0 if there is too little shared memory */
    int64_t pitch;    /* bytes of a place */
    int64_t slots, places;
};

/*
 * Cuts `bytes` into segments of at most `most` bytes, each of which fits in a place. Uses one slot if everything fits
 * in one segment; otherwise two slots, or one if two are not `needed` and the shared memory is too small for two.
 */
struct hs_pipe hs_pipe_cut(const struct hs_shape *shape, int64_t bytes, int64_t most, int64_t places, int needed);
/* Cuts every part (shape->part) into the same number of segments, as hs_pipe_cut with two slots needed. */
struct hs_pipe hs_pipe_cut_parts(const struct hs_shape *shape, int64_t places);
/* Why the shared memory is too small, or NULL. steps: the approximate number of steps per segment in a list. */
const char *hs_pipe_unfit(const struct hs_pipe *pipeline, int64_t steps);

/* The position in SHARED of a segment's place. */
static inline struct hs_ref hs_pipe_place(const struct hs_pipe *pipeline, int64_t segment, int64_t place)
{
    return hs_shared((segment % pipeline->slots * pipeline->places + place) * pipeline->pitch);
}

/* The range of bytes of one segment. */
struct hs_span hs_pipe_span(const struct hs_pipe *pipeline, int64_t segment);
/* The range of bytes of one segment of a rank's part. */
struct hs_span hs_pipe_part(const struct hs_pipe *pipeline, int rank, int64_t segment);

/* Emits a JOIN that depends on all steps of `kind` with index `first` or higher, and on `after` unless it is -1. */
int hs_emit_join_of(struct hs_builder *builder, enum hs_kind kind, int first, int after);
/* Emits WAITs for `value` from all other ranks, and a JOIN that depends on them and on `after`. */
int hs_emit_wait_all(struct hs_builder *builder, const struct hs_shape *shape, int64_t value, int after);

/*
 * dst = ((operand[0] op operand[1]) op operand[2]) ... for two or more operands. Emits consecutive REDUCEs: the first
 * depends on `after`, each later one only on the previous one, so an executor may run them as one kernel, as every
 * launch on a device takes time. Only operand[0] may overlap dst. Returns the last step, or -1 if count is 0.
 */
int hs_emit_sum_chain(struct hs_builder *builder, struct hs_ref dst, const struct hs_ref *operand, int operands,
                      int64_t count, int after);

/*
 * Emits a rank's steps for a segment, which depend on step `after` (-1 if none): they fill places, or read the places
 * that all ranks have filled. Returns the step that completes last.
 */
typedef int hs_round(void *state, int64_t segment, int after);

/*
 * Emits a pipeline in which all ranks play the same role: each rank fills its places of a segment (`put`), then reads
 * the previous segment (`work`). The steps of `put` wait until all ranks have worked on the segment two before; those
 * of `work` wait until all have put the segment. No rank waits after the last segment. Each segment needs one SIGNAL
 * and p-1 WAITs.
 */
void hs_emit_rounds(struct hs_pipe *pipeline, hs_round *put, hs_round *work, void *state);

/* The bytes of data that a place can contain: whole elements and, if it is large enough, whole cache lines. */
int64_t hs_place_within(int64_t bytes, int64_t unit);
/* The bytes of a place for `bytes` bytes of data: a multiple of cache lines and of elements. */
int64_t hs_place_bytes(int64_t bytes, int64_t unit);

#endif
