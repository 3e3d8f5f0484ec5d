/* Collectives inside a node in rounds, in which every rank puts something into shared memory and works on the last. */
#ifndef HS_COLL_PATTERN_ROUNDS_H
#define HS_COLL_PATTERN_ROUNDS_H

#include "coll/schedule/registry.h"

/*
 * What a rank does with a piece, once step `after` is done (-1: at once): puts it where others read it, or works on
 * what all have put.  Returns the step that is done when all of it is.
 */
typedef int hs_round(void *state, int64_t piece, int after);

/*
 * Emits the rounds of `pieces` pieces, of which two are in shared memory at a time: while one is put there, the one
 * before is worked on.  A piece is put once all ranks have worked on the last but one, and worked on once all have put
 * theirs; after the last one nobody waits.  One signal and p-1 WAITs per piece.
 */
void hs_emit_rounds(struct hs_builder *builder, const struct hs_shape *shape, int64_t pieces, hs_round *put,
                    hs_round *work, void *state);

/* A JOIN after the COPYs among the steps from `first` on, and after `after`. */
int hs_emit_join_copies(struct hs_builder *builder, int first, int after);

/* Where the parts of shape->part are cut into pieces of at most so many bytes. */
struct hs_pieces {
    const struct hs_shape *shape;
    int64_t pieces, pitch; /* pitch: bytes of a place that holds any of them; 0: there is too little room */
};
/* For `places` places per piece in the shared memory.  With one piece all parts are there at once. */
struct hs_pieces hs_cut_parts(const struct hs_shape *shape, int places);
/* Byte offset in the vector where a piece of a rank's part begins. */
int64_t hs_piece_at(const struct hs_pieces *pieces, int rank, int64_t piece);
/* The reason of rows that need so many places; NULL: they have them. */
const char *hs_unfit_places(const struct hs_shape *shape, int places);

#endif
