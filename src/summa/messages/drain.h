/*
 * Drain: brings the sums of C home when C moves (stationary A or B).
 *
 * The local GEMM writes partial panels; channels 0..levels-1 reduce them, innermost level first, each into the panel of
 * the next level outward; the last channel finishes: the root adds the sum to its part of C, or, for an exchanged C,
 * sends it to those who hold it.  The reductions trail the GEMM by the panels that have buffers.
 */
#ifndef HS_SUMMA_MESSAGES_DRAIN_H
#define HS_SUMMA_MESSAGES_DRAIN_H

#include "summa/messages/channel.h"
#include "summa/messages/mover.h"

struct hs_drain {
    struct hs_mover mover;
    int channels; /* levels + 1; channel s < levels belongs to level levels - 1 - s */
    struct hs_channel channel[1 + HS_LEVELS_MAX];
    int slots[1 + HS_LEVELS_MAX]; /* panel buffers that channel s reads from */
    char *ring[1 + HS_LEVELS_MAX];
    int64_t slot_bytes[1 + HS_LEVELS_MAX];
    char *scratch[1 + HS_LEVELS_MAX];
    int64_t scratch_bytes[1 + HS_LEVELS_MAX];
    char *outgoing, *incoming;
    struct hs_matrix matrix;
    const void *beta;
    double copy_seconds;
};

hsumma_status hs_drain_init(struct hs_drain *drain, const struct hs_spec *spec, const struct hs_mover *mover,
                            struct hs_cache *lists, const struct hs_allocator *memory);
void hs_drain_free(struct hs_drain *drain, const struct hs_allocator *memory);
void hs_drain_lay_out(struct hs_drain *drain, const struct hs_cache *lists, struct hs_arena *arena);
void hs_drain_place_buffers(struct hs_drain *drain, struct hs_arena *arena);
/* Bytes of panel buffers for given local extents, with room for the scratch that reductions need. */
int64_t hs_drain_bytes(const struct hs_mover *mover, const struct hs_spec *spec, const struct hs_pairs *pairs,
                       int64_t length);

/* Before each execution: of the innermost panels from .. to - 1. */
void hs_drain_reset(struct hs_drain *drain, const struct hs_matrix *matrix, const void *beta, int from, int to);
hsumma_status hs_drain_progress(struct hs_drain *drain, int *worked);
/* Starts what may start when the innermost panels below `computed` have been multiplied. */
hsumma_status hs_drain_start(struct hs_drain *drain, struct hs_comm *comm, const struct hs_cache *lists, int computed,
                             int *worked);
/* 1 when the GEMM may write panel t; where; *direct is set if that is C itself and beta has to be applied there. */
int hs_drain_open(const struct hs_drain *drain, int t);
struct hs_matrix hs_drain_panel(const struct hs_drain *drain, int t, int *direct);
/* 1 when nothing is under way. */
int hs_drain_idle(const struct hs_drain *drain);
/* 1 when everything of the span has come home. */
int hs_drain_done(const struct hs_drain *drain);

#endif
